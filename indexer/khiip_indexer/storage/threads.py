"""Which notes stand next to each other in a thread: a conversation kept a turn a note."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

# A turn answers one of the two before it, and is taken up by the next one.
BEFORE = 2
AFTER = 1


class Threads:
    """The order of all notes that name a thread: by thread, then as they were recorded."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._order: list[tuple[int, str]] = connection.execute(
            "SELECT row, thread_id FROM captures WHERE thread_id IS NOT NULL "
            "ORDER BY thread_id, recorded_at, path"
        ).fetchall()
        self._places = {row: place for place, (row, _) in enumerate(self._order)}

    def __bool__(self) -> bool:
        return bool(self._order)

    def around(self, row: int) -> Iterator[int]:
        """The notes that this one is read with: two before it and the one after, of its thread."""
        place = self._places.get(row)
        if place is None:
            return
        thread = self._order[place][1]
        for other in range(max(0, place - BEFORE), min(len(self._order), place + AFTER + 1)):
            if other != place and self._order[other][1] == thread:
                yield self._order[other][0]

    def touched(self, rows: Iterable[int]) -> set[int]:
        """The notes that are read with any of these, and these."""
        found = set()
        for row in rows:
            place = self._places.get(row)
            if place is not None:
                thread = self._order[place][1]
                last = min(len(self._order), place + BEFORE + 1)
                found |= {
                    self._order[other][0]
                    for other in range(max(0, place - AFTER), last)
                    if self._order[other][1] == thread
                }
        return found
