"""Statements over lists that may be longer than SQLite takes values."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

# SQLite takes 999 values in a statement wherever it is older than 3.32.
_PIECE = 500
AMONG = ":among"


def in_pieces(
    connection: sqlite3.Connection,
    sql: str,
    among: Sequence[object],
    *,
    before: Sequence[object] = (),
    after: Sequence[object] = (),
) -> Iterator[tuple[Any, ...]]:
    """Rows of a statement in which `:among` stands for a list of values.

    `before` and `after` are the values on both sides of the list.
    """
    for start in range(0, len(among), _PIECE):
        piece = among[start : start + _PIECE]
        marks = ", ".join("?" * len(piece))
        yield from connection.execute(sql.replace(AMONG, marks), (*before, *piece, *after))
