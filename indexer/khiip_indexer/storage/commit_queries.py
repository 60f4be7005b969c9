"""Questions to the stored history of the notes: whose edits, how many, since when. Plain SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from khiip_indexer.storage.commits import ACTIVE
from khiip_indexer.storage.facets import folded
from khiip_indexer.storage.journal import Edit
from khiip_indexer.storage.lineage import MOVED, Commit, Owner


class GitEdit(NamedTuple):
    """An edit of a file under the path that it had then; `commit` is the commit's number."""

    file: int
    commit: int
    path: str
    at: int
    operation: int
    from_path: str | None


class Activity(NamedTuple):
    """How often a note was made or changed.

    `recent` are the times (seconds since 1970) since the moment that was asked for, in no order;
    `edits` counts all, `first` is the time of the first.
    """

    recent: tuple[int, ...]
    edits: int
    first: int

    def plus(self, at: int, edits: int, since: int) -> Activity:
        """This and some more edits, all of them at one time."""
        more = (at,) * edits if at >= since else ()
        return Activity(self.recent + more, self.edits + edits, min(self.first, at))


def numbers_of(connection: sqlite3.Connection, hashes: Collection[str]) -> frozenset[int]:
    """The numbers of stored commits, by their hashes."""
    if not hashes:
        return frozenset()
    rows = connection.execute('SELECT "commit", hash FROM git_commits')
    return frozenset(number for number, digest in rows if digest.hex() in hashes)


def files_named(
    connection: sqlite3.Connection, text: str, is_note: Callable[[str], bool]
) -> set[int]:
    """Files that are or were at a path that holds a text, in any case, and is a note's."""
    rows = connection.execute(
        "SELECT n.file, p.path FROM git_paths p JOIN git_names n ON n.path = p.id "
        "WHERE instr(coalesce(p.folded, p.path), ?) > 0",
        (folded(text),),
    )
    return {file for file, path in rows if is_note(path)}


def names_of(connection: sqlite3.Connection, files: Collection[int]) -> set[str]:
    """The paths that these files have now."""
    rows = connection.execute(
        "SELECT path FROM git_paths WHERE state <> ? AND file IN (SELECT value FROM json_each(?))",
        (MOVED, _json(files)),
    )
    return {path for (path,) in rows}


def edits_of(
    connection: sqlite3.Connection, files: Collection[int], gone: Collection[int] = ()
) -> list[GitEdit]:
    """Every edit of these files but those of commits that are `gone`."""
    rows = connection.execute(
        'SELECT e.file, e."commit", p.path, e.at, e.operation, q.path FROM git_edits e '
        "JOIN git_paths p ON p.id = e.path LEFT JOIN git_paths q ON q.id = e.from_path "
        "WHERE e.file IN (SELECT value FROM json_each(?)) "
        'AND e."commit" NOT IN (SELECT value FROM json_each(?))',
        (_json(files), _json(gone)),
    )
    return [GitEdit(*row) for row in rows]


def commits_of(connection: sqlite3.Connection, numbers: Collection[int]) -> dict[int, Commit]:
    """These commits by their numbers, without what they changed."""
    rows = connection.execute(
        'SELECT "commit", at, hash, author, subject, body, session, is_merge FROM git_commits '
        'WHERE "commit" IN (SELECT value FROM json_each(?))',
        (_json(numbers),),
    )
    return {
        number: Commit(at, (), digest.hex(), at, author, subject, body, session, bool(merge))
        for number, at, digest, author, subject, body, session, merge in rows
    }


def activities(
    connection: sqlite3.Connection, since: int, gone: Collection[int] = ()
) -> Iterator[tuple[str, Activity]]:
    """(path now, activity) of every captured note that git knows, in one pass."""
    rows = connection.execute(
        f"WITH active AS ({_ACTIVE} GROUP BY file) "  # noqa: S608
        "SELECT p.path, a.recent, a.edits, a.first FROM active a "
        "JOIN git_paths p ON p.file = a.file JOIN captures c ON c.path = p.path "
        "WHERE p.state <> ?",
        (since, _json(ACTIVE), _json(gone), MOVED),
    )
    return ((path, _activity(*rest)) for path, *rest in rows)


def activity_of(
    connection: sqlite3.Connection, file: int, since: int, gone: Collection[int] = ()
) -> Activity | None:
    """One file's activity; None when it has none."""
    found = connection.execute(
        f"SELECT recent, edits, first FROM ({_ACTIVE} AND file = ? GROUP BY file)",  # noqa: S608
        (since, _json(ACTIVE), _json(gone), file),
    ).fetchone()
    return _activity(*found) if found else None


_ACTIVE = (
    "SELECT file, COUNT(*) AS edits, MIN(at) AS first, "
    "group_concat(CASE WHEN at >= ? THEN at END) AS recent FROM git_edits "
    "WHERE operation IN (SELECT value FROM json_each(?)) "
    'AND "commit" NOT IN (SELECT value FROM json_each(?))'
)


def _activity(recent: str | None, edits: int, first: int) -> Activity:
    times = tuple(int(at) for at in str(recent).split(",")) if recent is not None else ()
    return Activity(times, edits, first)


def captured(connection: sqlite3.Connection, paths: Collection[str]) -> set[str]:
    """Those of the paths at which a note is stored."""
    rows = connection.execute(
        "SELECT path FROM captures WHERE path IN (SELECT value FROM json_each(?))",
        (json.dumps(list(paths)),),
    )
    return {path for (path,) in rows}


def journal_beside_git(connection: sqlite3.Connection) -> list[tuple[Edit, Owner | None]]:
    """Edits in the journal that git may not tell of, with what git last did at their paths."""
    rows = connection.execute(
        "SELECT j.path, j.at, j.operation, j.from_path, j.edits, p.file, p.state, p.committed "
        "FROM journal j LEFT JOIN git_paths p ON p.path = j.path "
        "WHERE p.path IS NULL OR j.at > p.committed ORDER BY j.at, j.edit"
    )
    return [(Edit(*row[:5]), None if row[5] is None else Owner(*row[5:])) for row in rows]


def _json(numbers: Iterable[int]) -> str:
    return json.dumps(list(numbers))
