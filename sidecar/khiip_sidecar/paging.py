"""Pages of what is really on the disk, from an index that may be behind; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from khiip_indexer.records import Freshness

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """What is there from `offset` on; `gone` counts what was met and is not on the disk."""

    items: tuple[T, ...]
    has_more: bool
    stale: bool
    gone: int


def fill_page(
    fetch: Callable[[int, int], Sequence[T]],
    freshness: Callable[[T], Freshness],
    *,
    limit: int,
    offset: int,
) -> Page[T]:
    """Read on until the page is full or nothing is left; vanished notes take no place.

    `fetch(limit, offset)` gives the index's own order. Reading starts at its first item, since
    only there the number of vanished notes before this page is known: pages neither overlap nor
    leave anything out. `has_more` is exact.
    """
    wanted = offset + limit + 1
    present: list[tuple[T, Freshness]] = []
    read = 0
    while len(present) < wanted:
        asked = wanted - len(present)
        batch = fetch(asked, read)
        read += len(batch)
        checked = ((item, freshness(item)) for item in batch)
        present.extend(pair for pair in checked if pair[1] != "gone")
        if len(batch) < asked:
            break
    page = present[offset : offset + limit]
    gone = read - len(present)
    return Page(
        items=tuple(item for item, _ in page),
        has_more=len(present) >= wanted,
        stale=gone > 0 or any(state == "changed" for _, state in page),
        gone=gone,
    )
