"""Git's history of the vault's notes and their dates, read once and then commit by commit."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from khiip_indexer.disk import gitdates, gitlog, moved_vault
from khiip_indexer.disk.ahead import HEAD, PREFIX
from khiip_indexer.disk.git import GitUnavailable
from khiip_indexer.disk.gitdates import NoHistory, Repository
from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.storage import commits
from khiip_indexer.storage.lineage import Commit
from khiip_indexer.store import get_meta, put_meta
from khiip_indexer.types import Dates, Fingerprint

_log = logging.getLogger(__name__)

# More paths than these are not given to git on its command line.
_FEW = 200


class Ages:
    """Answers how old a note is, from git where git knows and from the file system else."""

    def __init__(self, vault: Path, clock: Callable[[], float] = time.time) -> None:
        self._vault = vault
        self._clock = clock
        self._dirty: Collection[str] = ()
        self._stamp: object = None
        self._head: str | None = None

    def standing(self) -> object:
        """What tells where git stands, to be given to `head_at`; cheap."""
        return gitdates.stamp(self._vault)

    def head_at(self, standing: object) -> str | None:
        """The commit that HEAD was at then, if it still was when `refresh` last looked."""
        return self._head if standing == self._stamp else None

    def moved(self) -> bool:
        """Whether git's history may have changed since `refresh` last looked; cheap."""
        return gitdates.stamp(self._vault) != self._stamp

    def refresh(self, connection: sqlite3.Connection) -> set[str]:
        """Take in commits made since the last time; returns the paths whose dates changed."""
        self._head = None
        self._stamp = gitdates.stamp(self._vault)
        if self._stamp is None:
            return set()
        try:
            now = gitdates.repository(self._vault)
            touched = self._up_to(connection, now)
        except NoHistory:
            return set()
        except GitUnavailable as error:
            _log.warning("git could not tell the notes' dates: %s", error)
            return set()
        self._head = now.head
        return touched

    def _up_to(self, connection: sqlite3.Connection, now: Repository) -> set[str]:
        known = get_meta(connection, HEAD)
        if known == now.head and get_meta(connection, PREFIX) == now.prefix:
            return set()
        with _all_or_nothing(connection):
            return self._take_in(connection, known, now)

    def _take_in(
        self, connection: sqlite3.Connection, known: str | None, now: Repository
    ) -> set[str]:
        since = known if known and self._grew(connection, known, now) else None
        recorder = commits.Recorder(connection, int(self._clock()))
        if since is None:
            commits.forget(connection)
            found = moved_vault.commits(self._vault, now.prefix, now.head)
        else:
            found = gitlog.commits(self._vault, since, now.head, now.prefix)
        before = _stored(connection) if since is None else None
        touched = _write_dates(connection, recorder.take(found), before)
        recorder.close()
        put_meta(connection, HEAD, now.head)
        put_meta(connection, PREFIX, now.prefix)
        return touched

    def _grew(self, connection: sqlite3.Connection, known: str, now: Repository) -> bool:
        """Whether only the commits since need reading: nothing was rewritten or moved."""
        same_place = get_meta(connection, PREFIX) == now.prefix
        return same_place and gitdates.is_ancestor(self._vault, known, now.head)

    def look_for_edits(self, among: Collection[str] | None = None) -> None:
        """Ask git which files differ from their last commit: their dates are the file system's.

        `among` are all whose dates will be asked for; one process either way.
        """
        few = among if among is not None and len(among) <= _FEW else ()
        if gitdates.in_repository(self._vault):
            try:
                self._dirty = gitdates.uncommitted(self._vault, few)
            except GitUnavailable as error:
                _log.warning("git could not tell which notes were edited: %s", error)

    def of(self, connection: sqlite3.Connection, path: str, seen: Fingerprint) -> Dates:
        """What is known of a note's age."""
        mtime = _moment(seen.mtime_ns / 1e9)
        found = connection.execute(
            "SELECT first, last FROM git_dates WHERE path = ?", (path,)
        ).fetchone()
        if found is None:
            return Dates(mtime)
        last = None if path in self._dirty else _moment(found[1])
        return Dates(mtime, git_first=_moment(found[0]), git_last=last)

    def dated_by_file(
        self,
        connection: sqlite3.Connection,
        paths: Collection[str],
        seen: Mapping[str, Fingerprint],
    ) -> set[str]:
        """Of these stored notes, those that took a date from a file time that is another now."""
        sql = "SELECT mtime_ns, recorded_at, modified_at FROM captures WHERE path = ?"
        found = set()
        for path in paths:
            mtime_ns, *dates = connection.execute(sql, (path,)).fetchone()
            if mtime_ns != seen[path].mtime_ns and rfc3339(_moment(mtime_ns / 1e9)) in dates:
                found.add(path)
        return found


def _write_dates(
    connection: sqlite3.Connection, found: Iterable[Commit], before: gitdates.Ages | None
) -> set[str]:
    """Bring the dates up to date with these commits; `before` is what they are all that counts of.

    Returns the paths whose dates are others now.
    """
    ages: gitdates.Ages = {} if before is not None else _Known(connection)
    touched = gitdates.fold(ages, found)
    if before is not None:
        touched = {path for path in {*ages, *before} if ages.get(path) != before.get(path)}
    connection.executemany(
        "DELETE FROM git_dates WHERE path = ?", [(path,) for path in touched if path not in ages]
    )
    connection.executemany(
        "INSERT OR REPLACE INTO git_dates VALUES (?, ?, ?)",
        [(path, *ages[path]) for path in touched if path in ages],
    )
    return touched


def _stored(connection: sqlite3.Connection) -> gitdates.Ages:
    rows = connection.execute("SELECT path, first, last FROM git_dates")
    return {path: (first, last) for path, first, last in rows}


class _Known(MutableMapping[str, tuple[int, int]]):
    """The stored dates, looked up as they are asked for; what is set stays here."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._met: dict[str, tuple[int, int] | None] = {}

    def __getitem__(self, path: str) -> tuple[int, int]:
        if path not in self._met:
            sql = "SELECT first, last FROM git_dates WHERE path = ?"
            self._met[path] = self._connection.execute(sql, (path,)).fetchone()
        found = self._met[path]
        if found is None:
            raise KeyError(path)
        return found

    def __setitem__(self, path: str, dates: tuple[int, int]) -> None:
        self._met[path] = dates

    def __delitem__(self, path: str) -> None:
        self._met[path] = None

    def __iter__(self) -> Iterator[str]:
        return (path for path, dates in self._met.items() if dates is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@contextmanager
def _all_or_nothing(connection: sqlite3.Connection) -> Iterator[None]:
    """Undo what was written when git gives up in the middle, and nothing else."""
    connection.execute("SAVEPOINT git_log")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK TO git_log")
        raise
    finally:
        connection.execute("RELEASE git_log")


_EARLIEST, _LATEST = 0.0, 253402300799.0  # years 1970 to 9999: what a date can be written as


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, _EARLIEST), _LATEST), UTC)
