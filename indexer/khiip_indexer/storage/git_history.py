"""Git's history of the notes as a whole: what is stored of it, and the commits that are not yet."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from khiip_indexer.storage import commit_queries as queries
from khiip_indexer.storage import commits, journal
from khiip_indexer.storage.commit_queries import Activity, GitEdit
from khiip_indexer.storage.facets import folded
from khiip_indexer.storage.lineage import MOVED, Commit, Lineage, Owner, knows


class GitHistory:
    """Answers as if the new commits were stored; those have negative numbers, as new files have.

    `stored` is whether what is stored counts, `gone` the hashes of what does not any more. Every
    question gets the asking thread's connection, in one snapshot with what it was made from.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        new: Sequence[Commit] = (),
        gone: Collection[str] = (),
        *,
        stored: bool = True,
        now: int = 0,
    ) -> None:
        self._stored = stored
        self._gone = queries.numbers_of(connection, gone)
        lineage = Lineage(lambda path: self._stored_owner(connection, path), -1, -1)
        numbered = {-number: commit for number, commit in enumerate(new, 1)}
        self._edits = _edits(numbered, lineage, now)
        self._commits = {number: _facts(commit, now) for number, commit in numbered.items()}
        self._owners = lineage.owners
        self._any_stored = stored and commits.any_stored(connection)

    @property
    def is_empty(self) -> bool:
        """Whether git knows no note at all of this vault."""
        return not self._edits and not self._any_stored

    def files_named(
        self, connection: sqlite3.Connection, text: str, is_note: Callable[[str], bool]
    ) -> set[int]:
        """Files that are or were at a path that holds a text, in any case, and is a note's."""
        wanted = folded(text)
        found = queries.files_named(connection, text, is_note) if self._stored else set()
        for edit in self._edits:
            paths = (path for path in (edit.path, edit.from_path) if path is not None)
            if any(wanted in folded(path) and is_note(path) for path in paths):
                found.add(edit.file)
        return found

    def names_of(self, connection: sqlite3.Connection, files: Collection[int]) -> set[str]:
        """The paths that these files have now."""
        known = queries.names_of(connection, files) if self._stored else set()
        new = {p for p, o in self._owners.items() if o.file in files and o.state != MOVED}
        return {path for path in known if path not in self._owners} | new

    def file_at(self, connection: sqlite3.Connection, path: str) -> int | None:
        """The file that is or last was at a path."""
        owner = self._owners.get(path) or self._stored_owner(connection, path)
        return owner.file if owner else None

    def edits_of(
        self, connection: sqlite3.Connection, files: Collection[int]
    ) -> list[tuple[GitEdit, Commit]]:
        """Every edit of these files with its commit, oldest first."""
        found = queries.edits_of(connection, files, self._gone) if self._stored else []
        facts = queries.commits_of(connection, {edit.commit for edit in found}) | self._commits
        found += [edit for edit in self._edits if edit.file in files]
        found.sort(key=lambda edit: (edit.at, edit.commit < 0, abs(edit.commit), edit.path))
        return [(edit, facts[edit.commit]) for edit in found]

    def activities(self, connection: sqlite3.Connection, since: int) -> dict[str, Activity]:
        """How active every captured note was that git knows."""
        known = queries.activities(connection, since, self._gone) if self._stored else ()
        found = dict(known)
        for path in self._owners:
            found.pop(path, None)
        here = queries.captured(connection, self._owners)
        fresh = self._fresh_edits()
        for path, owner in self._owners.items():
            if path in here and owner.state != MOVED:
                activity = self._activity(connection, owner.file, fresh[owner.file], since)
                if activity is not None:
                    found[path] = activity
        return found

    def activity_at(self, connection: sqlite3.Connection, path: str, since: int) -> Activity | None:
        """How active the file is that is or last was at a path, captured or not."""
        file = self.file_at(connection, path)
        if file is None:
            return None
        return self._activity(connection, file, self._fresh_edits()[file], since)

    def _fresh_edits(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for edit in self._edits:
            if edit.operation in commits.ACTIVE:
                found[edit.file].append(edit.at)
        return found

    def _activity(
        self, connection: sqlite3.Connection, file: int, fresh: Sequence[int], since: int
    ) -> Activity | None:
        known = None
        if self._stored:
            known = queries.activity_of(connection, file, since, self._gone)
        for at in fresh:
            known = (known or Activity((), 0, at)).plus(at, 1, since)
        return known

    def untold(self, connection: sqlite3.Connection) -> list[journal.Edit]:
        """Edits that the journal holds and git does not tell of, oldest first."""
        rows: list[tuple[journal.Edit, Owner | None]]
        if self._stored:
            rows = queries.journal_beside_git(connection)
        else:
            rows = [(edit, None) for edit in reversed(journal.edits(connection))]
        return [
            edit
            for edit, owner in rows
            if not knows(self._owners.get(edit.path, owner), edit.operation, edit.at)
        ]

    def _stored_owner(self, connection: sqlite3.Connection, path: str) -> Owner | None:
        return commits.owner(connection, path) if self._stored else None


def _facts(commit: Commit, now: int) -> Commit:
    """A commit as it comes from the store: without its changes and its parent."""
    at = min(commit.at, now)
    return replace(commit, at=at, committed=at, changes=(), parent="")


def _edits(new: dict[int, Commit], lineage: Lineage, now: int) -> list[GitEdit]:
    found = []
    for number, commit in new.items():
        for change in commit.changes:
            file = lineage.file_of(change, min(commit.committed, now))
            if file is not None:
                kind, source = commits.number_of(change), change.from_path
                at = min(commit.at, now)
                found.append(GitEdit(file, number, change.path, at, kind, source))
    return found
