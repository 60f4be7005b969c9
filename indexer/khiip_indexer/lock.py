"""One writer a vault: an operating-system lock that dies with its process."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from khiip_indexer.errors import VaultLocked
from khiip_indexer.storage.atomic import storage_error, write_file
from khiip_indexer.storage.identity import Identity, identity, is_still
from khiip_indexer.storage.owner import WRITER_FILE

_log = logging.getLogger(__name__)

LOCK_FILE = "lock"
_MOMENT = 5.0  # seconds

Role = Literal["serve", "reindex"]


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Let one process at a time in, for the moment that reading and writing a small file takes.

    Where the folder is no place for locks (some network drives) it is done without.
    """
    lock = FileLock(str(path))
    try:
        lock.acquire(timeout=_MOMENT)
    except (Timeout, OSError):
        _log.warning("%s cannot be locked; going on without", path.name)
    try:
        yield
    finally:
        lock.release()


class WriterLock:
    """Holds the vault for one writing process.

    The lock is the system's (flock, or its like on Windows), so a process that is gone never
    blocks; `writer.json` only names the holder for people and is never trusted.
    """

    def __init__(self, state: Path) -> None:
        self._path = state / LOCK_FILE
        self._lock = FileLock(str(self._path), thread_local=False)
        self._writer = state / WRITER_FILE
        self._held: Identity | None = None
        self._role: Role = "reindex"

    def acquire(self, role: Role) -> None:
        """Take the lock at once or raise VaultLocked with the holder's process id."""
        self._role = role
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise VaultLocked(
                self._holder(), hint="Wait until it has finished, or stop it."
            ) from error
        except OSError as error:
            raise storage_error(error, self._writer) from error
        try:
            write_file(self._writer, json.dumps({"pid": os.getpid(), "role": role}).encode())
        except BaseException:
            self._lock.release()
            raise
        self._held = identity(self._path)

    def stands(self) -> bool:
        """Whether the lock that is held is the one that another process would meet; cheap."""
        return self._lock.is_locked and is_still(self._path, self._held)

    def acquire_again(self) -> None:
        """Take the lock that is there now, where the one that was held is not; as `acquire`."""
        if not self.stands():
            self._lock.release(force=True)
            self._held = None
            self._lock = FileLock(str(self._path), thread_local=False)
            self.acquire(self._role)

    def release(self) -> None:
        """Let the next writer in."""
        if self._lock.is_locked:
            if self.stands():  # else the file names whoever took the place
                self._writer.unlink(missing_ok=True)
            self._lock.release()

    def _holder(self) -> str:
        said = _said(self._writer)
        if said is None:
            # The holder has the lock but has not written its name yet, or has just left.
            return "another process is writing this vault's index"
        role, pid = said
        return f"vault is {'served' if role == 'serve' else 'being indexed'} by pid {pid}"


def writer_of(state: Path) -> str | None:
    """What another process that writes an index now is there for, a Role; None without one.

    The lock itself is only tried where somebody says that it is held: whoever wants it in that
    very moment would find it taken.
    """
    said = _said(state / WRITER_FILE)
    if said is None or said[1] == os.getpid():
        return None
    lock = FileLock(str(state / LOCK_FILE))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return said[0]
    except OSError:
        return None
    lock.release()
    return None


def _said(path: Path) -> tuple[str, int] | None:
    """Role and process id that a writer left about itself."""
    try:
        said = json.loads(path.read_bytes())
        return str(said["role"]), int(said["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
