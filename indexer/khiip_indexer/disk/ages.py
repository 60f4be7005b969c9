"""Git's dates of the vault's notes, read once and then commit by commit."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path

from khiip_indexer.disk import gitdates
from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.store import get_meta, put_meta
from khiip_indexer.types import Dates, Fingerprint

_log = logging.getLogger(__name__)

# More paths than these are not given to git on its command line.
_FEW = 200


class Ages:
    """Answers how old a note is, from git where git knows and from the file system else."""

    def __init__(self, vault: Path) -> None:
        self._vault = vault
        self._dirty: Collection[str] = ()
        self._stamp: object = None

    def moved(self) -> bool:
        """Whether git's history may have changed since `refresh` last looked; cheap."""
        return gitdates.stamp(self._vault) != self._stamp

    def refresh(self, connection: sqlite3.Connection) -> set[str]:
        """Take in commits made since the last time; returns the paths whose dates changed."""
        self._stamp = gitdates.stamp(self._vault)
        if self._stamp is None:
            return set()
        head = gitdates.head(self._vault)
        known = get_meta(connection, "git_head")
        if head is None or head == known:
            return set()
        try:
            return self._take_in(connection, known, head)
        except gitdates.GitUnavailable as error:
            _log.warning("git could not tell the notes' dates: %s", error)
            return set()

    def _take_in(self, connection: sqlite3.Connection, known: str | None, head: str) -> set[str]:
        if gitdates.is_shallow(self._vault):
            # A cut-off history dates every older file to the cut.
            put_meta(connection, "git_head", head)
            return set()
        since = known if known and gitdates.is_ancestor(self._vault, known, head) else None
        ages = _stored(connection) if since else {}
        touched = gitdates.fold(ages, gitdates.commits(self._vault, since, head))
        if since is None:
            connection.execute("DELETE FROM git_dates")
        connection.executemany(
            "DELETE FROM git_dates WHERE path = ?", [(path,) for path in touched - ages.keys()]
        )
        connection.executemany(
            "INSERT OR REPLACE INTO git_dates VALUES (?, ?, ?)",
            [(path, *ages[path]) for path in touched & ages.keys() if _storable(path)],
        )
        put_meta(connection, "git_head", head)
        return touched

    def look_for_edits(self, among: Collection[str] | None = None) -> None:
        """Ask git which files differ from their last commit: their dates are the file system's.

        `among` are all whose dates will be asked for; one process either way.
        """
        few = among if among is not None and len(among) <= _FEW else ()
        if gitdates.in_repository(self._vault):
            try:
                self._dirty = gitdates.uncommitted(self._vault, few)
            except gitdates.GitUnavailable as error:
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


def _stored(connection: sqlite3.Connection) -> gitdates.Ages:
    rows = connection.execute("SELECT path, first, last FROM git_dates")
    return {path: (first, last) for path, first, last in rows}


def _storable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False  # an undecodable name: its note falls back to the file's own time
    return True


_EARLIEST, _LATEST = 0.0, 253402300799.0  # years 1970 to 9999: what a date can be written as


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(min(max(seconds, _EARLIEST), _LATEST), UTC)
