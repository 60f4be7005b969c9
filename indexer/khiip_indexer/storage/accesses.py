"""The access log: when each capture was read. The user's history, so it has a file of its own."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from khiip_indexer.storage import access_rows as rows
from khiip_indexer.storage import atomic
from khiip_indexer.storage.access_rows import Entry, Read, Renames, Tally
from khiip_indexer.storage.database import (
    CORRUPT,
    connect,
    is_damage,
    newer_version,
    reading_mode,
    translated,
)
from khiip_indexer.storage.identity import Identity, identity, is_still
from khiip_indexer.storage.memo import Memo
from khiip_indexer.storage.put_off import PutOff

ACCESS_FILE = "access.sqlite"
T = TypeVar("T")
_log = logging.getLogger(__name__)
_VERSION = 1
_PATIENCE_SECONDS = 10.0
_PAUSE_SECONDS = 0.005
# File systems that know one name a file only; there the log is made in its place.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


class AccessLog:
    """Read and written by every process of a vault; each write is one short transaction.

    A file that SQLite cannot read is set aside as `access.sqlite.corrupt`, and what can be read
    of it is taken over. StorageError where the folder cannot be written or read.

    A log that came with a copied folder is kept, whichever vault it was of: what was read is the
    user's, ids that no note has harm nothing, and few notes of two vaults have the same id.
    """

    def __init__(self, state: Path) -> None:
        self._path = state / ACCESS_FILE
        self._guard = threading.RLock()
        self._connections: dict[bool, sqlite3.Connection] = {}
        self._opened: Identity | None = None
        self._memo = Memo()
        self._put_off = PutOff(self._count_if_possible, self._guard)

    def record(self, ids: Sequence[str], at: int | None = None) -> None:
        """Count one access for each of these captures, `at` milliseconds since 1970 (now)."""
        if ids:
            self._count([(ids, _now() if at is None else at)])

    def record_soon(self, ids: Sequence[str]) -> None:
        """Count one access now for each of these captures, and write it in a moment.

        Whoever asks this log finds it counted; other processes do when it is written: before the
        next answer of this log, when it is closed, or by itself soon.
        """
        if ids:
            self._put_off.add(ids, _now())

    def _count_if_possible(self, reads: Sequence[Read]) -> bool:
        """Count them, unless the whole folder was deleted and is to come back."""
        if True not in self._connections and not self._path.parent.exists():
            return False
        self._count(reads)
        return True

    def _count(self, reads: Sequence[Read]) -> None:
        def count(connection: sqlite3.Connection) -> None:
            device = rows.device(connection, (self._opened or (0, 0))[1])
            rows.count(connection, device, reads)

        self._write(count)

    def tallies(self, ids: Iterable[str] | None = None) -> dict[str, Tally]:
        """What was read, by id, of these captures or of all; one never read is not in it.

        The answer for all is kept until the next access: do not change it.
        """

        def select(connection: sqlite3.Connection) -> dict[str, Tally]:
            if ids is None:
                return self._memo.get(connection, "all", lambda: rows.tallies(connection, "", ()))
            found: dict[str, Tally] = {}
            for capture_id in ids:
                found |= rows.tallies(connection, "WHERE id = ?1", (capture_id,))
            return found

        return self._read(select, {})

    def times(self, capture_id: str) -> list[int]:
        """The newest accesses of one capture, newest first, in milliseconds since 1970."""

        def select(connection: sqlite3.Connection) -> list[int]:
            return rows.times(connection, capture_id)

        return self._read(select, [])

    def entries(self) -> list[Entry]:
        """Everything that is known, by capture, device and moment."""
        return self._read(rows.entries, [])

    def merge(self, found: Sequence[Entry]) -> int:
        """Take in entries of this or other devices; gives how many told something new.

        One transaction: all of them or, where writing fails, none.
        """
        told: list[int] = []
        self._write(lambda connection: told.append(rows.merge(connection, found)))
        return told[-1]

    def follow(self, source: str, batches: Sequence[tuple[int, Renames]]) -> None:
        """Let accesses follow captures to their new ids: numbered batches of (old, new).

        `source` is who numbers them; what was followed before is not followed again.
        """

        def follow(connection: sqlite3.Connection) -> None:
            key = f"followed:{source}"
            done = int(rows.meta(connection, key) or 0)
            for number, pairs in batches:
                if number > done:
                    rows.rename(connection, pairs)
            connection.execute("DELETE FROM meta WHERE key LIKE 'followed:%'")
            rows.put_meta(connection, key, str(max(done, batches[-1][0])))

        self._put_off.flush()
        if batches and self._path.exists():
            self._write(follow)

    def come_back(self) -> None:
        """Write what is open into a new file, where its own was deleted."""
        self._read(lambda _: None, None)

    def close(self) -> None:
        """Write what waits and close the file; a later call opens it again."""
        self._put_off.flush()
        with self._guard:
            self._let_go()

    def _let_go(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self._memo = Memo()  # what it kept is of these connections

    def _write(self, change: Callable[[sqlite3.Connection], None]) -> None:
        def whole(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                change(connection)

        self._attempt(whole, write=True)

    def _read(self, select: Callable[[sqlite3.Connection], T], nothing: T) -> T:
        def whole(connection: sqlite3.Connection) -> T:
            with _transaction(connection, "DEFERRED"):
                return select(connection)

        self._put_off.flush()
        there = self._connections or self._path.exists()
        return self._attempt(whole, write=False) if there else nothing

    def _attempt(self, use: Callable[[sqlite3.Connection], T], *, write: bool) -> T:
        with self._guard, translated(self._path), atomic.translated(self._path):
            try:
                self._follow_file()
                return use(self._connection(write=write))
            except (sqlite3.Error, IsADirectoryError) as error:
                if not is_damage(error) and not self._path.is_dir():
                    raise
                self._let_go()
                _renew(self._path)
                return use(self._connection(write=write))

    def _follow_file(self) -> None:
        """Take what is open along, where its file was deleted or another has taken its place.

        While the folder itself is gone, what is open is all there is, and is gone on with.
        """
        if not self._connections or is_still(self._path, self._opened):
            return
        if self._path.parent.is_dir():
            found = rows.entries(next(iter(self._connections.values())))
            self._let_go()
            if found:
                with _transaction(connection := self._connection(write=True)):
                    rows.merge(connection, found)

    def _connection(self, *, write: bool) -> sqlite3.Connection:
        known = self._connections.get(write)
        if known is None and not write and not self._path.exists():
            known = self._connections.get(True)  # its file was deleted, and it still holds all
        if known is None:
            mode = "rwc" if write else reading_mode(self._path)
            if write and not self._path.exists():
                _make(self._path)
            known = self._connections[write] = _opened(self._path, mode)
            self._opened = identity(self._path)
        return known


def _make(path: Path) -> None:
    """Make the log under another name, and give it its own when it is whole.

    Whoever reads or writes it meanwhile meets no file or all of it: one that was half made would
    be taken for damaged, and set aside with what others write into it.
    """
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        _opened(fresh, "rwc").close()
        with suppress(FileExistsError):  # another process was faster
            os.link(fresh, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    finally:
        fresh.unlink(missing_ok=True)


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    connection = connect(path, mode)
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        _refuse_newer(path, version)
        if mode == "rwc" and version < _VERSION:
            _into_wal(connection)
            connection.executescript(
                f"BEGIN IMMEDIATE; {rows.TABLES} PRAGMA user_version = {_VERSION}; COMMIT;"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _into_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL, which SQLite refuses at once, and waits for nobody, while another process
    makes the same new file.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(_PAUSE_SECONDS)
        else:
            return


def _refuse_newer(path: Path, version: int) -> None:
    if version > _VERSION:
        raise newer_version(path.name)


def _renew(path: Path) -> None:
    """Set a file aside that cannot be read, and take over what can be read of it after all."""
    aside = path.with_name(path.name + CORRUPT)
    _log.warning("%s cannot be read; it is kept as %s", path.name, aside.name)
    if path.is_dir() or not _is_whole(path):
        for suffix in ("", "-wal", "-shm"):
            if (file := path.with_name(path.name + suffix)).exists():
                file.replace(path.with_name(aside.name + suffix))
    if not path.exists():
        _make(path)
    with closing(_opened(path, "rwc")) as connection, _transaction(connection):
        rows.merge(connection, _saved(aside))


def _saved(aside: Path) -> Iterator[Entry]:
    for select in (
        "SELECT id, device, until, count FROM folded",
        "SELECT id, device, at, NULL FROM accesses",
    ):
        for row in _rows(aside, select):
            yield Entry(*row)


def _is_whole(path: Path) -> bool:
    """Whether another process has put a new file there in the meantime."""
    try:
        with closing(connect(path, "ro")) as connection:
            for columns in (
                "id, at, device FROM accesses",
                "id, count FROM folded",
                "key FROM meta",
            ):
                connection.execute(f"SELECT {columns} LIMIT 1")
            return bool(connection.execute("PRAGMA quick_check").fetchone()[0] == "ok")
    except sqlite3.Error:
        return False


def _rows(path: Path, sql: str) -> Iterator[tuple[Any, ...]]:
    try:
        with closing(connect(path, "ro")) as connection:
            yield from connection.execute(sql)
    except sqlite3.Error as error:
        _log.warning("part of the access log could not be read: %s", error)


def _now() -> int:
    return time.time_ns() // 1_000_000


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
