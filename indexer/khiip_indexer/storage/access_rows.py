"""The rows of the access log: counted once, folded when many, renamed, merged. Plain SQL."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Of each capture and device the newest accesses are kept one by one, older ones as a number.
KEEP = 50
_FOLD_AT = 2 * KEEP

# (id, at, device) names one access, here and among those that are merged from elsewhere. What a
# device has folded is all that it counted until then: none of its single accesses is as old.
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

_ADD_FOLDED = (
    "INSERT INTO folded (id, device, count, until) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
    "SET count = count + excluded.count, until = MAX(until, excluded.until)"
)

# A device's numbers only grow, so that of two states of one the larger holds the other.
_MERGE_FOLDED = (
    "INSERT INTO folded (id, device, count, until) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
    "SET count = MAX(count, excluded.count), until = MAX(until, excluded.until) "
    "WHERE excluded.count > count OR excluded.until > until"
)
_MERGE_SINGLE = (
    "INSERT OR IGNORE INTO accesses (id, at, device) SELECT ?1, ?2, ?3 WHERE NOT EXISTS "
    "(SELECT 1 FROM folded WHERE id = ?1 AND device = ?3 AND until >= ?2)"
)
_DROP_FOLDED = "DELETE FROM accesses WHERE id = ? AND device = ? AND at <= ?"

Renames = Sequence[tuple[str, str]]
# Captures that were read at one moment, in milliseconds since 1970.
Read = tuple[Sequence[str], int]


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a capture was read, and when last (milliseconds since 1970)."""

    count: int
    last: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One access of a capture on a device at a moment (milliseconds since 1970).

    With a `count`, it is so many accesses, the last of them at that moment.
    """

    id: str
    device: str
    at: int
    count: int | None = None


def count(connection: sqlite3.Connection, device: str, reads: Iterable[Read]) -> None:
    """Count accesses of this device: of each of these captures, at a moment."""
    moments: dict[str, list[int]] = {}
    for ids, at in reads:
        for capture_id in ids:
            moments.setdefault(capture_id, []).append(at)
    for capture_id, found in moments.items():
        _insert(connection, capture_id, found, device)
        fold(connection, capture_id, device)


def _insert(
    connection: sqlite3.Connection, capture_id: str, moments: Iterable[int], device: str
) -> None:
    """Two in one millisecond are two: the second one takes the next free moment. One that a clock
    set back would put among the folded ones comes just behind them.
    """
    folded = connection.execute(
        "SELECT until FROM folded WHERE id = ? AND device = ?", (capture_id, device)
    ).fetchone()
    least = folded[0] + 1 if folded else 0
    sql = "INSERT OR IGNORE INTO accesses VALUES (?, ?, ?)"
    for moment in moments:
        at = max(moment, least)
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
    connection.execute(_ADD_FOLDED, (capture_id, device, gone, until))


def tallies(connection: sqlite3.Connection, where: str, values: Sequence[str]) -> dict[str, Tally]:
    """Counts and last moments by id, of the rows that `where` (on `id`) lets in."""
    rows = connection.execute(
        f"SELECT id, COUNT(*), MAX(at) FROM accesses {where} GROUP BY id",  # noqa: S608
        values,
    )
    found = {capture_id: Tally(count, last) for capture_id, count, last in rows}
    folded = connection.execute(f"SELECT id, count, until FROM folded {where}", values)  # noqa: S608
    for capture_id, count, until in folded:
        known = found.get(capture_id, Tally(0, until))
        found[capture_id] = Tally(known.count + count, max(known.last, until))
    return found


def times(connection: sqlite3.Connection, capture_id: str) -> list[int]:
    """The accesses of one capture that are kept one by one, newest first."""
    rows = connection.execute(
        "SELECT at FROM accesses WHERE id = ? ORDER BY at DESC LIMIT ?", (capture_id, KEEP)
    )
    return [at for (at,) in rows]


def entries(connection: sqlite3.Connection) -> list[Entry]:
    """Everything that is known, by capture, device and moment."""
    rows = connection.execute(
        "SELECT id, device, at, NULL FROM accesses "
        "UNION ALL SELECT id, device, until, count FROM folded ORDER BY 1, 2, 3"
    )
    return [Entry(*row) for row in rows]


def merge(connection: sqlite3.Connection, found: Iterable[Entry]) -> int:
    """Take in what is known elsewhere, in any order; gives how many entries told something new.

    However often and in whatever order, the outcome is the same: single accesses are told apart
    by their name, and of a device's folded ones the larger number counts.
    """
    return sum(_merge_one(connection, entry) for entry in found)


def _merge_one(connection: sqlite3.Connection, entry: Entry) -> int:
    if entry.count is None:
        return connection.execute(_MERGE_SINGLE, (entry.id, entry.at, entry.device)).rowcount
    values = (entry.id, entry.device, entry.count, entry.at)
    changed = connection.execute(_MERGE_FOLDED, values).rowcount
    connection.execute(_DROP_FOLDED, (entry.id, entry.device, entry.at))
    return changed


def rename(connection: sqlite3.Connection, pairs: Renames) -> None:
    """All at once, so that two captures may swap their ids.

    What is known of a new id already is merged: another device may have renamed it before.
    """
    taken: list[Entry] = []
    for old, new in pairs:
        known = connection.execute(
            "SELECT ?2, device, at, NULL FROM accesses WHERE id = ?1 "
            "UNION ALL SELECT ?2, device, until, count FROM folded WHERE id = ?1",
            (old, new),
        )
        taken += [Entry(*row) for row in known]
        connection.execute("DELETE FROM accesses WHERE id = ?", (old,))
        connection.execute("DELETE FROM folded WHERE id = ?", (old,))
    merge(connection, taken)


def device(connection: sqlite3.Connection, file: int) -> str:
    """A name for this file's own accesses, drawn once; `file` is its inode (0: not known).

    A copy of the file is another device from then on: both go on counting, and can be merged.
    """
    known, its = meta(connection, "device"), meta(connection, "device_file")
    if known is None or (its not in (None, str(file)) and file):
        known = secrets.token_hex(8)
        put_meta(connection, "device", known)
    if file and its != str(file):
        put_meta(connection, "device_file", str(file))
    return known


def meta(connection: sqlite3.Connection, key: str) -> str | None:
    """A value that the log remembers about itself."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(found[0]) if found else None


def put_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Remember a value."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
