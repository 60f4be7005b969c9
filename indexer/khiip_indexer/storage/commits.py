"""What git did to the vault's notes, commit by commit. Plain SQL.

A path's text is kept once. A file keeps its number when it is renamed: `git_names` tells under
which paths it ever was, and all its edits lie together in `git_edits`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from khiip_indexer.storage.facets import folded
from khiip_indexer.storage.journal import Operation
from khiip_indexer.storage.lineage import Change, Commit, Lineage, Owner

# `folded` is null where it is the path itself. `state` and `committed` are a Lineage's.
TABLES = """
CREATE TABLE IF NOT EXISTS git_commits (
    "commit" INTEGER PRIMARY KEY,
    hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    author TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    session TEXT,
    is_merge INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS git_paths (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    folded TEXT,
    file INTEGER NOT NULL,
    state INTEGER NOT NULL,
    committed INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS git_paths_by_file ON git_paths (file);

CREATE TABLE IF NOT EXISTS git_names (
    path INTEGER NOT NULL,
    file INTEGER NOT NULL,
    PRIMARY KEY (path, file)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS git_edits (
    file INTEGER NOT NULL,
    "commit" INTEGER NOT NULL,
    path INTEGER NOT NULL,
    at INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    from_path INTEGER,
    PRIMARY KEY (file, "commit", path)
) WITHOUT ROWID;
"""

OPERATIONS: tuple[Operation, ...] = ("created", "modified", "renamed", "deleted")
# Beside a plain rename's number there is one for a rename that changed the content too.
RENAMED_AND_EDITED = len(OPERATIONS)
# Operations that made or changed a text: what momentum counts.
ACTIVE = (0, 1, RENAMED_AND_EDITED)
_NUMBERS: dict[str, int] = {operation: number for number, operation in enumerate(OPERATIONS)}
_MANY = 2000


def operation_of(number: int) -> Operation:
    """The operation that a stored number stands for."""
    return "renamed" if number == RENAMED_AND_EDITED else OPERATIONS[number]


def number_of(change: Change) -> int:
    """The number that an edit's operation is stored as."""
    if change.operation == "renamed" and not change.same:
        return RENAMED_AND_EDITED
    return _NUMBERS[change.operation]


def forget(connection: sqlite3.Connection) -> None:
    """Empty the tables, for a history that was rewritten."""
    for table in ("git_edits", "git_names", "git_paths", "git_commits"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608


def owner(connection: sqlite3.Connection, path: str) -> Owner | None:
    """Whose path it is, as far as git's history is stored."""
    found = connection.execute(
        "SELECT file, state, committed FROM git_paths WHERE path = ?", (path,)
    ).fetchone()
    return Owner(*found) if found else None


def any_stored(connection: sqlite3.Connection) -> bool:
    """Whether git did anything to a note of this vault, as far as is stored."""
    return connection.execute("SELECT 1 FROM git_paths LIMIT 1").fetchone() is not None


class Recorder:
    """Writes commits down as they come, parents before children; `close` writes the last ones.

    `now` (seconds since 1970) is the latest that an edit can have been made.
    """

    def __init__(self, connection: sqlite3.Connection, now: int) -> None:
        self._connection = connection
        self._now = now
        self._lineage = Lineage(
            lambda path: owner(connection, path), _next(connection, "git_edits", "file")
        )
        self._ids: dict[str, int] = {}
        self._next_path = _next(connection, "git_paths", "id")
        self._next_commit = _next(connection, "git_commits", '"commit"')
        self._commits: list[tuple[object, ...]] = []
        self._edits: list[tuple[object, ...]] = []

    def take(self, commits: Iterable[Commit]) -> Iterator[Commit]:
        """Pass the commits on, each written down."""
        for commit in commits:
            self._put(commit)
            yield commit

    def close(self) -> None:
        """Write what is still held back."""
        self._flush()
        self._connection.executemany(
            "INSERT INTO git_paths (id, path, folded, file, state, committed) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
            "file = excluded.file, state = excluded.state, committed = excluded.committed",
            (
                (self._id(path), path, _folded(path), *found)
                for path, found in self._lineage.owners.items()
            ),
        )

    def _put(self, commit: Commit) -> None:
        number, at = self._next_commit, min(commit.at, self._now)
        edits = [row for change in commit.changes if (row := self._edit(commit, change, number))]
        if not edits:
            return
        self._next_commit += 1
        self._edits += edits
        self._commits.append(
            (
                number, bytes.fromhex(commit.hash), at, commit.author, commit.subject,
                commit.body, commit.session, commit.merge,
            )
        )  # fmt: skip
        if len(self._edits) > _MANY:
            self._flush()

    def _edit(self, commit: Commit, change: Change, number: int) -> tuple[object, ...] | None:
        file = self._lineage.file_of(change, min(commit.committed, self._now))
        if file is None:
            return None
        source = None if change.from_path is None else self._id(change.from_path)
        at = min(commit.at, self._now)
        return file, number, self._id(change.path), at, number_of(change), source

    def _id(self, path: str) -> int:
        known = self._ids.get(path)
        if known is None:
            found = self._connection.execute("SELECT id FROM git_paths WHERE path = ?", (path,))
            row = found.fetchone()
            known = self._ids[path] = row[0] if row else self._next_path
            self._next_path += row is None
        return known

    def _flush(self) -> None:
        self._connection.executemany(
            "INSERT INTO git_commits VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._commits
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO git_edits VALUES (?, ?, ?, ?, ?, ?)", self._edits
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO git_names (path, file) VALUES (?, ?)",
            [name for edit in self._edits for name in _names(edit)],
        )
        self._commits.clear()
        self._edits.clear()


def _names(edit: tuple[object, ...]) -> Iterator[tuple[object, object]]:
    file, _, path, _, _, source = edit
    yield path, file
    if source is not None:
        yield source, file


def _next(connection: sqlite3.Connection, table: str, column: str) -> int:
    found = connection.execute(f"SELECT MAX({column}) FROM {table}").fetchone()  # noqa: S608
    return (found[0] or 0) + 1


def _folded(path: str) -> str | None:
    changed = folded(path)
    return None if changed == path else changed
