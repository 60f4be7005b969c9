"""The journal of edits: what happened to which note, and when. Plain SQL.

It is written in the transaction that changes the index, whoever noticed the edit: the watcher, a
reconcile or a hook. Notes that were there before the index are no activity and are not in it; a
file that git brought carries the date of its commit, never that of the checkout.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Operation = Literal["created", "modified", "renamed", "deleted"]

_DAY = 24 * 3600
# Edits are kept one by one for this long, then one row a note, day and operation.
WHOLE_DAYS = 30
# The oldest go when there are more rows than this.
MOST_ROWS = 200_000


@dataclass(frozen=True, slots=True)
class Edit:
    """`edits` changes of one note; `at` is the last of them, in seconds since 1970."""

    path: str
    at: int
    operation: Operation
    from_path: str | None = None
    edits: int = 1


def log(connection: sqlite3.Connection, edit: Edit) -> None:
    """Write an edit down, once, unless the index is still being made for the first time."""
    if _is_first_index(connection):
        return
    connection.execute(
        "INSERT OR IGNORE INTO journal (path, at, operation, from_path, edits) "
        "VALUES (?, ?, ?, ?, ?)",
        (edit.path, edit.at, edit.operation, edit.from_path, edit.edits),
    )


def _is_first_index(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM meta WHERE key = 'last_reconcile'").fetchone()
    return found is None


def edits(
    connection: sqlite3.Connection, *, path_has: str = "", since: int = 0, limit: int = -1
) -> list[Edit]:
    """Edits of the notes whose path contains a text, newest first, from `since` on (seconds)."""
    rows = connection.execute(
        "SELECT path, at, operation, from_path, edits FROM journal "
        "WHERE at >= ? AND (? = '' OR instr(path, ?) > 0 OR instr(from_path, ?) > 0) "
        "ORDER BY at DESC, edit DESC LIMIT ?",
        (since, path_has, path_has, path_has, limit),
    )
    return [Edit(*row) for row in rows]


def paths(connection: sqlite3.Connection) -> set[str]:
    """Every path that the journal tells of."""
    rows = connection.execute(
        "SELECT path FROM journal UNION SELECT from_path FROM journal WHERE from_path IS NOT NULL"
    )
    return {path for (path,) in rows}


def renames(connection: sqlite3.Connection) -> list[Edit]:
    """Every rename, oldest first."""
    rows = connection.execute(
        "SELECT path, at, operation, from_path, edits FROM journal "
        "WHERE operation = 'renamed' ORDER BY at, edit"
    )
    return [Edit(*row) for row in rows]


def edits_at(connection: sqlite3.Connection, among: Iterable[str]) -> list[Edit]:
    """The edits at these paths, oldest first."""
    rows = connection.execute(
        "SELECT path, at, operation, from_path, edits FROM journal "
        "WHERE path IN (SELECT value FROM json_each(?)) ORDER BY at, edit",
        (json.dumps(list(among)),),
    )
    return [Edit(*row) for row in rows]


def totals(connection: sqlite3.Connection) -> list[tuple[str, int, int]]:
    """(path, how often it was made or changed, when first), one row a path."""
    rows = connection.execute(
        "SELECT path, SUM(edits), MIN(at) FROM journal "
        "WHERE operation IN ('created', 'modified') GROUP BY path"
    )
    return rows.fetchall()


def lately(connection: sqlite3.Connection, since: int) -> list[tuple[str, int, int]]:
    """(path, when, how many edits) of what was made or changed since a moment."""
    rows = connection.execute(
        "SELECT path, at, edits FROM journal "
        "WHERE at >= ? AND operation IN ('created', 'modified')",
        (since,),
    )
    return rows.fetchall()


def prune(connection: sqlite3.Connection, now: int) -> None:
    """Keep the journal small: once a day, old edits become one row a note, day and operation."""
    today = str(now // _DAY)
    known = connection.execute("SELECT value FROM meta WHERE key = 'journal_day'").fetchone()
    if known is not None and known[0] == today:
        return
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('journal_day', ?)", (today,))
    _coalesce(connection, now - WHOLE_DAYS * _DAY)
    connection.execute(
        "DELETE FROM journal WHERE edit IN ("
        "SELECT edit FROM journal ORDER BY at DESC, edit DESC LIMIT -1 OFFSET ?)",
        (MOST_ROWS,),
    )


def _coalesce(connection: sqlite3.Connection, before: int) -> None:
    many = connection.execute(
        f"SELECT path, operation, at / {_DAY}, SUM(edits), MAX(at), COUNT(*) FROM journal "  # noqa: S608
        "WHERE at < ? AND operation <> 'renamed' GROUP BY 1, 2, 3 HAVING COUNT(*) > 1",
        (before - before % _DAY,),
    ).fetchall()
    for path, operation, day, count, last, _ in many:
        connection.execute(
            f"DELETE FROM journal WHERE path = ? AND operation = ? AND at / {_DAY} = ? AND at < ?",  # noqa: S608
            (path, operation, day, last),
        )
        connection.execute(
            "UPDATE journal SET edits = ? WHERE path = ? AND operation = ? AND at = ?",
            (count, path, operation, last),
        )
