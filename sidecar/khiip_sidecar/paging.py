"""Pages of what is really on the disk, from an index that may be behind; pure but for Bookmarks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from khiip_indexer.records import Freshness

T = TypeVar("T")
KEPT_BOOKMARKS = 256


@dataclass(frozen=True, slots=True)
class Place:
    """`present` notes on the disk lie before the index's own position `read`."""

    present: int = 0
    read: int = 0


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """What is there from `offset` on; `gone` counts what was met and is not on the disk.

    `changed` says of each item whether its note has changed since; `end` is where the next page
    begins.
    """

    items: tuple[T, ...]
    has_more: bool
    stale: bool
    gone: int
    end: Place
    changed: tuple[bool, ...] = ()


def fill_page(
    fetch: Callable[[int, int], Sequence[T]],
    freshness: Callable[[T], Freshness],
    *,
    limit: int,
    offset: int,
    start: Place | None = None,
) -> Page[T]:
    """Read on until the page is full or nothing is left; vanished notes take no place.

    `fetch(limit, offset)` gives the index's own order. Reading begins at `start`, by default at
    the very first item: how many vanished notes lie before a page is known in no other way, and
    pages must neither overlap nor leave anything out. `has_more` is exact.
    """
    start = start or Place()
    skipped = offset - start.present
    wanted = skipped + limit + 1
    present, read = _present(fetch, freshness, wanted, start.read)
    page = present[skipped : skipped + limit]
    changed = tuple(state == "changed" for _, state, _ in page)
    gone = read - start.read - len(present)
    return Page(
        items=tuple(item for item, _, _ in page),
        has_more=len(present) >= wanted,
        stale=gone > 0 or any(changed),
        gone=gone,
        end=Place(offset + len(page), page[-1][2]) if page else start,
        changed=changed,
    )


def _present(
    fetch: Callable[[int, int], Sequence[T]],
    freshness: Callable[[T], Freshness],
    wanted: int,
    read: int,
) -> tuple[list[tuple[T, Freshness, int]], int]:
    """The next items from `read` on that are there, each with its place; how far was read."""
    present: list[tuple[T, Freshness, int]] = []
    while len(present) < wanted:
        asked = wanted - len(present)
        batch = fetch(asked, read)
        for position, item in enumerate(batch, read + 1):
            if (state := freshness(item)) != "gone":
                present.append((item, state, position))
        read += len(batch)
        if len(batch) < asked:
            break
    return present, read


class Bookmarks:
    """Where recent pages ended, so that reading a long list page by page stays linear.

    One list is one key: what was asked for, and of which generation of the index.
    """

    def __init__(self) -> None:
        self._ends: OrderedDict[tuple[Hashable, int], Place] = OrderedDict()

    def before(self, key: Hashable, offset: int) -> Place | None:
        """The place where the page at `offset` begins, when the page before it was read."""
        return self._ends.get((key, offset))

    def remember(self, key: Hashable, end: Place) -> None:
        """Keep the place where a page ended; the oldest are forgotten."""
        self._ends[(key, end.present)] = end
        while len(self._ends) > KEPT_BOOKMARKS:
            self._ends.popitem(last=False)
