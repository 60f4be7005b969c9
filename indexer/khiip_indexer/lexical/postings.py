"""Postings: which notes hold a term, and how well by BM25; as arrays, which add up fast."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", int, NDArray[np.void])
# One element a note: its row and its BM25 for one term, higher is better.
FORM = np.dtype([("row", np.int64), ("raw", np.float64)])
Postings = NDArray[np.void]
Numbers = NDArray[Any]
# So many postings are kept at most: 1.6 MB.
_MOST = 100_000


class Kept:
    """What was read of terms while the cache is as it was; whoever made it drops it after that.

    FTS5 computes BM25 a note at a time, and that is nearly all that a search by words costs. The
    words of a query come again: with each letter that is typed after them, and with each page.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: dict[Hashable, Any] = {}
        self._size = 0

    def get(self, key: Hashable, read: Callable[[], T]) -> T:
        """What is known by this key, read when it is not."""
        if key not in self._known:
            found = read()
            self._make_room(np.size(found))
            self._known[key] = found
        known: T = self._known[key]
        return known

    def _make_room(self, size: int) -> None:
        if self._size + size > self._most:
            self._known.clear()
            self._size = 0
        self._size += size


def postings(rows: Iterable[tuple[int, float]]) -> Postings:
    """Postings of pairs of a row and its BM25."""
    return np.fromiter(rows, FORM)


def added(
    parts: Sequence[tuple[Postings, float, float]],
) -> tuple[Numbers, Numbers, Numbers]:
    """Every row once, what its BM25 adds up to, and what it holds.

    A part is one term's postings, how often it counts and how much whoever has it holds by it.
    """
    rows = np.concatenate([found["row"] for found, _, _ in parts])
    raw = np.concatenate([times * found["raw"] for found, times, _ in parts])
    held = np.repeat([weight for _, _, weight in parts], [len(found) for found, _, _ in parts])
    distinct, at = np.unique(rows, return_inverse=True)
    return distinct, np.bincount(at, raw), np.bincount(at, held)
