"""What happened to the notes, and when: git's commits and the journal, as one history."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from khiip_indexer.disk.ahead import HEAD, Ahead, Known
from khiip_indexer.disk.ignore import IgnoreRules, rules_stamp
from khiip_indexer.disk.path_text import encode_path
from khiip_indexer.storage import journal
from khiip_indexer.storage.commit_queries import Activity, GitEdit, captured
from khiip_indexer.storage.commits import operation_of
from khiip_indexer.storage.database import Database, translated
from khiip_indexer.storage.facets import folded
from khiip_indexer.storage.git_history import GitHistory
from khiip_indexer.storage.journal import Edit, Operation
from khiip_indexer.storage.journal_names import Names
from khiip_indexer.storage.lineage import Commit
from khiip_indexer.store import get_meta

__all__ = ["Activity", "Commit", "Edits", "History", "NoteEdit"]

IsNote = Callable[[str], bool]


class NoteEdit(NamedTuple):
    """`edits` changes of a note under the path that it had then.

    `at` (seconds since 1970) is never after the moment of asking; `commit` is None for what only
    the journal tells.
    """

    path: str
    at: int
    operation: Operation
    from_path: str | None = None
    edits: int = 1
    commit: Commit | None = None

    @property
    def origin(self) -> Literal["git", "journal"]:
        """Who tells of it."""
        return "journal" if self.commit is None else "git"


@dataclass(frozen=True, slots=True)
class Edits:
    """Edits, newest first; `state` is `git`, `journal`, or `git_unavailable: …` with the reason.

    In the last case the edits are what the journal holds.
    """

    state: str
    edits: tuple[NoteEdit, ...]


class History:
    """The history of one vault's notes; any thread may ask, and nothing is written.

    `excludes` are gitignore patterns from the config, `clock` gives seconds since 1970.
    """

    def __init__(
        self,
        database: Database,
        vault: Path,
        excludes: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._vault = vault
        self._excludes = tuple(excludes)
        self._clock = clock
        self._ahead = Ahead(vault)
        self._made: tuple[Known, GitHistory] | None = None
        self._rules: tuple[object, IgnoreRules, dict[str, bool]] | None = None

    def edits(self, path_has: str) -> Edits:
        """Every edit of notes whose path holds a text, in any case, or held it before a rename.

        Raises StorageError when the index cannot be read.
        """
        text, is_note = encode_path(path_has), self._is_note()
        with self._snapshot() as (connection, known):
            state = known.state
            if known.from_git:
                git = self._git(connection, known)
                found = _from_git(connection, git, text, is_note)
                # A vault that lies in somebody's repository and is not part of it.
                state = "journal" if git.is_empty else state
            else:
                renames = journal.renames(connection)
                names = _names(journal.paths(connection), renames, text, is_note)
                found = _of_journal(journal.edits_at(connection, names), names)
        found.sort(key=lambda edit: edit.at)
        return Edits(state, tuple(_only_notes(reversed(found), is_note)))

    def activity(self, since: int) -> dict[str, Activity]:
        """How often each captured note was made or changed, by its path now.

        Times and `since` are seconds since 1970. Renames and deletions do not count. A note that
        is not in it has neither commits nor journaled edits: its `recorded_at` is its only event.
        Where only the journal tells, `first` may be later than a note's `recorded_at`.
        """
        with self._snapshot() as (connection, known):
            if known.from_git:
                git = self._git(connection, known)
                found, untold = git.activities(connection, since), git.untold(connection)
                found |= _before_renames(connection, git, found, untold, since)
                touched = _add(found, untold, since)
            else:
                found = _by_journal(connection, since)
                touched = set(found)
            for path in touched - captured(connection, touched):
                found.pop(path, None)
        return found

    def mark(self) -> object:
        """Equal to an earlier one as long as the history is the same; cheap."""
        with self._snapshot() as (connection, known):
            last = connection.execute("SELECT MAX(edit), COUNT(*) FROM journal").fetchone()
            head = get_meta(connection, HEAD)
        return known, head, tuple(last)

    @contextmanager
    def _snapshot(self) -> Iterator[tuple[sqlite3.Connection, Known]]:
        """One state of the index for all questions of a request, and how git stands to it."""
        connection = self._database.read()
        with translated(self._database.path):
            nested = connection.in_transaction
            if not nested:
                connection.execute("BEGIN")
            try:
                yield connection, self._ahead.look(connection, self._database.renewals)
            finally:
                # An error may have ended it already.
                if not nested and connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _git(self, connection: sqlite3.Connection, known: Known) -> GitHistory:
        made = self._made
        if made is None or made[0] is not known:
            now = int(self._clock())
            made = (
                known,
                GitHistory(connection, known.commits, known.gone, stored=known.stored, now=now),
            )
            self._made = made
        return made[1]

    def _is_note(self) -> IsNote:
        """The rules as they are now; a path is judged once as long as they stay."""
        stamp = rules_stamp(self._vault)
        made = self._rules
        if made is None or made[0] != stamp:
            made = self._rules = stamp, IgnoreRules(self._vault, self._excludes), {}
        _, rules, judged = made

        def is_note(path: str) -> bool:
            if path not in judged:
                judged[path] = rules.reason(path) is None
            return judged[path]

        return is_note


def _from_git(
    connection: sqlite3.Connection, git: GitHistory, text: str, is_note: IsNote
) -> list[NoteEdit]:
    files = git.files_named(connection, text, is_note)
    untold = git.untold(connection)
    more = git.names_of(connection, files) if untold else ()
    paths = {path for edit in untold for path in (edit.path, edit.from_path) if path is not None}
    renames = [edit for edit in untold if edit.operation == "renamed"]
    names = _names(paths, renames, text, is_note, more)
    # A note that was renamed and not committed yet has its commits under its old name.
    files |= {file for path in names if (file := git.file_at(connection, path)) is not None}
    found = [_note_edit(edit, commit) for edit, commit in git.edits_of(connection, files)]
    return found + _of_journal(untold, names)


def _only_notes(edits: Iterable[NoteEdit], is_note: IsNote) -> Iterator[NoteEdit]:
    """Leave out what is no note by today's rules, also in the past."""
    for edit in edits:
        if is_note(edit.path):
            hidden = edit.from_path is not None and not is_note(edit.from_path)
            yield edit._replace(from_path=None) if hidden else edit


def _note_edit(edit: GitEdit, commit: Commit) -> NoteEdit:
    operation = operation_of(edit.operation)
    return NoteEdit(edit.path, edit.at, operation, edit.from_path, commit=commit)


def _names(
    paths: Iterable[str],
    renames: Sequence[Edit],
    text: str,
    is_note: IsNote,
    more: Collection[str] = (),
) -> Names:
    """The names of the notes that a text means, as far as the journal tells; `more` are known."""
    wanted = folded(text)
    return Names(
        paths, renames, lambda path: path in more or (wanted in folded(path) and is_note(path))
    )


def _of_journal(told: Iterable[Edit], names: Names) -> list[NoteEdit]:
    return [
        NoteEdit(edit.path, edit.at, edit.operation, edit.from_path, edit.edits)
        for edit in told
        if names.hold(edit)
    ]


def _by_journal(connection: sqlite3.Connection, since: int) -> dict[str, Activity]:
    """What the journal tells: counted by the database but for notes that had other names."""
    renames = journal.renames(connection)
    renamed = {path for edit in renames for path in (edit.path, edit.from_path) if path is not None}
    recent: dict[str, list[int]] = {}
    for path, at, edits in journal.lately(connection, since):
        recent.setdefault(path, []).extend([at] * edits)
    found = {
        path: Activity(tuple(recent.get(path, ())), count, first)
        for path, count, first in journal.totals(connection)
        if path not in renamed
    }
    _add(found, journal.edits_at(connection, renamed), since)
    return found


def _before_renames(
    connection: sqlite3.Connection,
    git: GitHistory,
    found: Collection[str],
    untold: Iterable[Edit],
    since: int,
) -> dict[str, Activity]:
    """What git tells of notes under names that they have lost without a commit."""
    lost = {e.from_path for e in untold if e.operation == "renamed" and e.from_path is not None}
    told = ((path, git.activity_at(connection, path, since)) for path in lost.difference(found))
    return {path: activity for path, activity in told if activity is not None}


def _add(found: dict[str, Activity], told: Iterable[Edit], since: int) -> set[str]:
    """Add what the journal tells, oldest first; returns the paths that it tells of."""
    touched = set()
    for edit in told:
        source = edit.from_path
        if edit.operation == "renamed" and source in found and edit.path not in found:
            found[edit.path] = found.pop(source)
            touched |= {edit.path, source}
        elif edit.operation in ("created", "modified"):
            before = found.get(edit.path) or Activity((), 0, edit.at)
            found[edit.path] = before.plus(edit.at, edit.edits, since)
            touched.add(edit.path)
    return touched
