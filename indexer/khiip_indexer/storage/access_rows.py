"""The rows of the access log: counted once, folded when they are many, renamed. Plain SQL."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

# Of each capture and device the newest accesses are kept one by one, older ones as a number.
KEEP = 50
_FOLD_AT = 2 * KEEP

# (id, at, device) names one access, here and among those that are merged from elsewhere.
TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS accesses (
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    device TEXT NOT NULL,
    PRIMARY KEY (id, at, device)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS folded (
    id TEXT NOT NULL,
    device TEXT NOT NULL,
    count INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (id, device)
) WITHOUT ROWID;
"""

ADD_FOLDED = (
    "INSERT INTO folded (id, device, count, until) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
    "SET count = count + excluded.count, until = MAX(until, excluded.until)"
)

Renames = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a capture was read, and when last (milliseconds since 1970)."""

    count: int
    last: int


def insert(connection: sqlite3.Connection, capture_id: str, at: int, device: str) -> None:
    """Two accesses in one millisecond are two: the second one takes the next free moment."""
    sql = "INSERT OR IGNORE INTO accesses VALUES (?, ?, ?)"
    while connection.execute(sql, (capture_id, at, device)).rowcount == 0:
        at += 1


def fold(connection: sqlite3.Connection, capture_id: str, device: str) -> None:
    """Keep the newest accesses of a capture; the others become a number."""
    whose = "id = ? AND device = ?"
    count = connection.execute(
        f"SELECT COUNT(*) FROM accesses WHERE {whose}",  # noqa: S608
        (capture_id, device),
    ).fetchone()[0]
    if count <= _FOLD_AT:
        return
    until = connection.execute(
        f"SELECT at FROM accesses WHERE {whose} ORDER BY at DESC LIMIT 1 OFFSET ?",  # noqa: S608
        (capture_id, device, KEEP),
    ).fetchone()[0]
    gone = connection.execute(
        f"DELETE FROM accesses WHERE {whose} AND at <= ?",  # noqa: S608
        (capture_id, device, until),
    ).rowcount
    connection.execute(ADD_FOLDED, (capture_id, device, gone, until))


def tallies(connection: sqlite3.Connection, where: str, values: Sequence[str]) -> dict[str, Tally]:
    """Counts and last moments by id, of the rows that `where` (on `id`) lets in."""
    rows = connection.execute(
        "SELECT id, SUM(count), MAX(until) FROM ("  # noqa: S608
        f"SELECT id, 1 AS count, at AS until FROM accesses {where} "
        f"UNION ALL SELECT id, count, until FROM folded {where}) GROUP BY id",
        values,
    )
    return {capture_id: Tally(count, last) for capture_id, count, last in rows}


def times(connection: sqlite3.Connection, capture_id: str) -> list[int]:
    """The accesses of one capture that are kept one by one, newest first."""
    rows = connection.execute(
        "SELECT at FROM accesses WHERE id = ? ORDER BY at DESC LIMIT ?", (capture_id, KEEP)
    )
    return [at for (at,) in rows]


def rename(connection: sqlite3.Connection, pairs: Renames) -> None:
    """All at once, so that two captures may swap their ids."""
    taken: list[tuple[str, list[tuple[int, str]], list[tuple[str, int, int]]]] = []
    for old, new in pairs:
        accesses = connection.execute(
            "SELECT at, device FROM accesses WHERE id = ?", (old,)
        ).fetchall()
        folded = connection.execute(
            "SELECT device, count, until FROM folded WHERE id = ?", (old,)
        ).fetchall()
        taken.append((new, accesses, folded))
        connection.execute("DELETE FROM accesses WHERE id = ?", (old,))
        connection.execute("DELETE FROM folded WHERE id = ?", (old,))
    for new, accesses, folded in taken:
        for at, device in accesses:
            insert(connection, new, at, device)
        for device, count, until in folded:
            connection.execute(ADD_FOLDED, (new, device, count, until))


def device(connection: sqlite3.Connection) -> str:
    """A name for this file's own accesses, drawn once."""
    known = meta(connection, "device")
    if known is None:
        known = secrets.token_hex(8)
        put_meta(connection, "device", known)
    return known


def meta(connection: sqlite3.Connection, key: str) -> str | None:
    """A value that the log remembers about itself."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(found[0]) if found else None


def put_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Remember a value."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
