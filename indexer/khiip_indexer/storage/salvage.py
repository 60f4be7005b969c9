"""Saves the vectors of a damaged cache, so that nothing is embedded twice."""

from __future__ import annotations

import logging
import math
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from khiip_indexer.storage.database import CORRUPT, Database, connect
from khiip_indexer.storage.repair import LOG_FILES

_log = logging.getLogger(__name__)
_PIECE = 64

Row = tuple[str, bytes, bytes]


def salvage(database: Database) -> None:
    """Take over every readable vector of the file that was set aside, once."""
    damaged = database.path.with_name(database.path.name + CORRUPT)
    if not damaged.exists():
        return
    saved = 0
    with database.write() as connection:
        for model, key, vector in _readable(damaged):
            # No note holds its text yet: it comes alive when the notes are read again.
            saved += connection.execute(
                "INSERT OR IGNORE INTO vectors (model, key, orphaned_at, vector) "
                "VALUES (?, ?, ?, ?)",
                (model, key, int(time.time()), vector),
            ).rowcount
    for suffix in ("", *LOG_FILES):
        damaged.with_name(damaged.name + suffix).unlink(missing_ok=True)
    _log.warning("%d vectors were saved from the former index", saved)


def _readable(damaged: Path) -> Iterator[Row]:
    try:
        with closing(connect(damaged, "ro")) as connection:
            for start in range(0, _last_label(connection) + 1, _PIECE):
                yield from _piece(connection, start)
    except sqlite3.Error as error:
        _log.warning("the damaged index could not be read: %s", error)


def _last_label(connection: sqlite3.Connection) -> int:
    """From the table itself, or where that page is gone from SQLite's own account of it."""
    for sql in (
        "SELECT MAX(label) FROM vectors",
        "SELECT seq FROM sqlite_sequence WHERE name = 'vectors'",
    ):
        with suppress(sqlite3.DatabaseError):
            return int((connection.execute(sql).fetchone() or (0,))[0] or 0)
    return 0


def _piece(connection: sqlite3.Connection, start: int) -> Iterator[Row]:
    try:
        rows = connection.execute(
            "SELECT model, key, vector FROM vectors WHERE label BETWEEN ? AND ?",
            (start, start + _PIECE - 1),
        ).fetchall()
    except sqlite3.Error:
        return  # this page is the damaged one; the others may be whole
    yield from (row for row in rows if _is_sound(*row))


def _is_sound(model: object, key: object, vector: object) -> bool:
    """Whether a row is what we write: a unit vector of float32 under a 16-byte key."""
    if not (isinstance(model, str) and isinstance(key, bytes) and isinstance(vector, bytes)):
        return False
    if len(key) != 16 or not vector or len(vector) % 4:
        return False
    numbers = struct.unpack(f"<{len(vector) // 4}f", vector)
    return math.isclose(math.fsum(number * number for number in numbers), 1.0, abs_tol=1e-3)
