"""The `.khiip` folder: made, kept out of git, and repaired before it is opened for writing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from khiip_indexer.lock import Role, WriterLock
from khiip_indexer.storage.atomic import sweep_temporaries, translated, write_file
from khiip_indexer.storage.database import DATABASE_FILE
from khiip_indexer.storage.owner import claim
from khiip_indexer.storage.repair import make_way, set_aside_damaged

if TYPE_CHECKING:
    from khiip_indexer.config import Settings


def make(settings: Settings) -> None:
    """Make the folder with nothing in it, out of git's sight, where it is not there."""
    with translated(settings.state / DATABASE_FILE):
        settings.state.mkdir(parents=True, exist_ok=True)
    _ignore(settings.state / ".gitignore")


def prepare(settings: Settings, role: Role) -> WriterLock:
    """Make the folder, take the lock, and set aside a cache that SQLite cannot read."""
    _make_room(settings.state)
    lock = WriterLock(settings.state)
    lock.acquire(role)
    try:
        _settle(settings)
    except BaseException:
        lock.release()
        raise
    return lock


def prepare_again(settings: Settings, lock: WriterLock) -> None:
    """Do as much for a folder that was deleted or replaced while it was open.

    Raises VaultLocked when another process has taken the place.
    """
    _make_room(settings.state)
    lock.acquire_again()
    _settle(settings)


def _make_room(state: Path) -> None:
    with translated(state / DATABASE_FILE):
        state.mkdir(parents=True, exist_ok=True)
    make_way(state)


def _settle(settings: Settings) -> None:
    state = settings.state
    claim(settings.state, settings.vault)
    _ignore(state / ".gitignore")
    sweep_temporaries(state)
    with translated(state / DATABASE_FILE):
        set_aside_damaged(state / DATABASE_FILE)


def _ignore(path: Path) -> None:
    if not path.is_file() or path.read_bytes() != b"*\n":
        write_file(path, b"*\n")
