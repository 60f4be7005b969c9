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

_log = logging.getLogger(__name__)

LOCK_FILE = "lock"
WRITER_FILE = "writer.json"
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
        self._lock = FileLock(str(state / LOCK_FILE), thread_local=False)
        self._writer = state / WRITER_FILE

    def acquire(self, role: Role) -> None:
        """Take the lock at once or raise VaultLocked with the holder's process id."""
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

    def release(self) -> None:
        """Let the next writer in."""
        if self._lock.is_locked:
            self._writer.unlink(missing_ok=True)
            self._lock.release()

    def _holder(self) -> str:
        try:
            said = json.loads(self._writer.read_bytes())
            verb = "served" if said["role"] == "serve" else "being indexed"
            return f"vault is {verb} by pid {int(said['pid'])}"
        except (OSError, ValueError, KeyError, TypeError):
            # The holder has the lock but has not written its name yet, or has just left.
            return "another process is writing this vault's index"
