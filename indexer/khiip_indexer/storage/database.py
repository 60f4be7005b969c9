"""Connections to `.khiip/cache.sqlite`: one that writes, one a thread that reads."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from weakref import WeakSet

from khiip_indexer.errors import IndexMissing, StorageError
from khiip_indexer.formats import SCHEMA_VERSION
from khiip_indexer.storage.atomic import disk_full, is_full, not_writable, place_taken
from khiip_indexer.storage.identity import Identity, identity, is_still
from khiip_indexer.storage.schema import TABLES

DATABASE_FILE = "cache.sqlite"
CORRUPT = ".corrupt"
_BUSY_MILLISECONDS = 10_000
# A process that only reads looks this often whether the file is still the one it has open.
_LOOK_SECONDS = 1.0
# The write-ahead log is cut back to this after a large change.
_LOG_BYTES = 16 * 1024 * 1024


class Connection(sqlite3.Connection):
    """One that may be referred to weakly: what is kept of it must not keep it."""


class _Held:
    """The connections of one thread, closed when it ends: threads come and go, and every
    connection has some MiB of pages. The collector alone would come late, for they are in rings.
    """

    def __init__(self) -> None:
        self.renewals = -1
        self.connections: list[Connection] = []

    def close(self) -> None:
        for connection in self.connections:
            connection.close()

    __del__ = close


class Database:
    """The cache's connections; `writable` decides whether there is one that writes."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self._local = threading.local()
        self._readers: WeakSet[_Held] = WeakSet()
        self._guard = threading.Lock()
        self._write_lock = threading.RLock()
        self.writable = writable
        self.renewals = 0
        self._inode = 0
        self._look_again = 0.0
        self._for_writing = writable
        self._opened: Identity | None = None
        self._writer: sqlite3.Connection | None = None
        # Told when there is no file to be read; it may raise what explains that better.
        self.when_missing: Callable[[], None] = _nothing
        if writable:
            self._take_up()
        else:
            _require_current(self.read())

    def _take_up(self) -> None:
        self._writer = _open_writer(self.path)
        self._opened = identity(self.path)
        self.writable = True

    def stands(self) -> bool:
        """Whether the file that is written is the one that others find; cheap."""
        return self._writer is not None and is_still(self.path, self._opened)

    def read(self) -> sqlite3.Connection:
        """This thread's reading connection.

        `renewals` counts how often another file has taken the place of the one that was open: a
        damaged or deleted cache that was made anew, also by another process.
        """
        if not self.writable and time.monotonic() > self._look_again:
            self._notice_renewal()
        held: _Held | None = getattr(self._local, "held", None)
        if held is None or held.renewals != self.renewals:
            held = self._renewed(held)
        return held.connections[-1]

    def _renewed(self, held: _Held | None) -> _Held:
        """The former connection stays: somebody in this thread may be in the midst of its rows."""
        renewals = self.renewals
        try:
            connection = _open_reader(self.path)
        except IndexMissing:
            self.when_missing()
            raise
        if held is None:
            held = self._local.held = _Held()
            with self._guard:
                self._readers.add(held)
        held.connections.append(connection)
        held.renewals = renewals
        return held

    def _notice_renewal(self) -> None:
        self._look_again = time.monotonic() + _LOOK_SECONDS
        with suppress(OSError):  # not there now: what is open is better than nothing
            inode = self.path.stat().st_ino
            if self._inode not in (0, inode):
                self.renewals += 1
            self._inode = inode

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept, or nothing; a nested call joins the outer one."""
        if self._writer is None:
            raise StorageError("This process has opened the index for reading only.")
        with self._write_lock, translated(self.path):
            if self._writer.in_transaction:
                yield self._writer
                return
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.rollback()
                raise
            self._writer.commit()

    def renew(self, change: Callable[[], None]) -> None:
        """Let `change` put another file in the place of this one, and go on with that.

        A thread that still reads the old file finishes with it.
        """
        if not self._for_writing:
            raise StorageError("This process has opened the index for reading only.")
        with self._write_lock:
            self._close_writer()
            change()
            self._take_up()
            self.renewals += 1

    def let_go(self) -> None:
        """Write no more and follow whoever does now, until `renew`."""
        with self._write_lock:
            self._close_writer()
            if self.writable:
                self.writable, self._inode = False, 0
                self.renewals += 1

    def copy_to(self, path: Path) -> None:
        """Write what is open into another file, also where its own was deleted."""
        if self._writer is None:
            raise StorageError("This process has opened the index for reading only.")
        with self._write_lock, translated(path), closing(sqlite3.connect(path)) as other:
            self._writer.backup(other)

    def _close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def vacuum(self) -> None:
        """Write the file anew without its free pages."""
        if self._writer is None:
            raise StorageError("This process has opened the index for reading only.")
        with self._write_lock, translated(self.path):
            self._writer.execute("VACUUM")

    def close(self) -> None:
        """Close every connection; the last one folds the write-ahead log into the file."""
        with self._guard:
            for held in list(self._readers):
                held.close()
            self._readers.clear()
        self._local = threading.local()
        self._close_writer()


def _nothing() -> None:
    return None


def translated(path: Path) -> AbstractContextManager[None]:
    """Turn SQLite's refusals into errors that a person can act on."""
    return _Translated(path)


class _Translated(AbstractContextManager[None]):
    """A class, for a search enters it dozens of times, and a generator takes thrice as long."""

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise _storage_error(error, self._path) from error


DAMAGE_MARK = "damaged"
_DAMAGE_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# What SQLite says of a table that somebody else made, or that is not there.
_FOREIGN = ("no such table", "no such column", "table ")


def _storage_error(error: sqlite3.Error, path: Path) -> StorageError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # Where a full disk leaves no room for the log's own index, SQLite calls it an I/O error.
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and is_full(path.parent)):
        return disk_full(path)
    if code == sqlite3.SQLITE_READONLY:
        return not_writable(path)
    if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
        return StorageError(
            "The index stayed busy for ten seconds.",
            hint="Another process is writing a lot; try again in a moment.",
            code="index_busy",
        )
    if code == sqlite3.SQLITE_IOERR:
        return StorageError(
            f"Reading or writing {path.name} failed: {error}.",
            hint="Check the disk, then run khiipd reindex: it goes on where it stopped.",
            code="index_io_failed",
        )
    if is_damage(error):
        # Reading every page at each start would be slow: the next writer looks because of this.
        with suppress(OSError):
            path.with_name(DAMAGE_MARK).touch()
    return StorageError(
        f"The index file {path.name} could not be used: {error}.",
        hint="Run khiipd reindex: it repairs or rebuilds the index from the notes.",
        code="index_damaged",
    )


def is_damage(error: Exception) -> bool:
    """Whether SQLite says that the file, or what is in it, is not what we wrote."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in _DAMAGE_CODES or (
        isinstance(error, sqlite3.Error) and str(error).startswith(_FOREIGN)
    )


def _open_writer(path: Path) -> sqlite3.Connection:
    with translated(path):
        connection = connect(path, "rwc")
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _prepare(connection: sqlite3.Connection) -> None:
    version = version_of(connection)
    if version > SCHEMA_VERSION:
        raise newer_version()
    if version < SCHEMA_VERSION:
        connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")


def _not_readable(place: Path) -> StorageError:
    return StorageError(
        f"The index {'folder' if place.is_dir() else 'file'} {place} may not be read.",
        hint="Give yourself access to it, or choose another place with --state-dir.",
        code="index_not_readable",
    )


def _open_reader(path: Path) -> Connection:
    try:
        known = path.is_file()
    except PermissionError as error:
        raise _not_readable(path.parent) from error
    if not known:
        missing = IndexMissing("This vault has no index yet.", hint="Run khiipd reindex.")
        raise place_taken(path) or missing
    if not os.access(path, os.R_OK):
        raise _not_readable(path)
    with translated(path):
        return connect(path, reading_mode(path))


def reading_mode(path: Path) -> str:
    """How to open a file for reading: by way of the write-ahead log, or as it is.

    For the former SQLite makes the log's files where there are none, which fails on a read-only
    disk and in another user's folder. Without a log nobody writes.
    """
    logged = os.access(path.parent, os.W_OK) or path.with_name(path.name + "-wal").exists()
    return "ro" if logged else "ro&immutable=1"


def connect(path: Path, mode: str) -> Connection:
    """A connection with the settings that all of ours have; `mode` as in SQLite's addresses."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_MILLISECONDS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
        factory=Connection,
    )
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    # Many threads read: half the pages cost them no time that can be measured at 10,000 notes.
    connection.execute(f"PRAGMA cache_size = {-8192 if mode == 'rwc' else -4096}")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _require_current(connection: sqlite3.Connection) -> None:
    with translated(Path(DATABASE_FILE)):
        version = version_of(connection)
    if version > SCHEMA_VERSION:
        raise newer_version()
    if version < SCHEMA_VERSION:
        raise IndexMissing("This vault's index is not finished.", hint="Run khiipd reindex.")


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the tables that a file holds; 0 for a new one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def newer_version(made: str = "this index") -> IndexMissing:
    """The sentence for a file of a version that is not written yet."""
    return IndexMissing(
        f"A newer version of Khiip made {made}.",
        hint="Update Khiip, or delete the vault's .khiip folder and run khiipd reindex.",
        code="index_from_newer_version",
    )
