"""What is set aside before the index is written: damaged files, foreign ones, folders in the way.

Nothing is deleted that may be of use: a cache goes to `cache.sqlite.corrupt` until its vectors
are saved, a folder where a file should be stays as `NAME.aside`.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from khiip_indexer.errors import KhiipError
from khiip_indexer.storage.atomic import translated
from khiip_indexer.storage.database import (
    CORRUPT,
    DAMAGE_MARK,
    DATABASE_FILE,
)
from khiip_indexer.storage.soundness import is_whole, looks_like_database

if TYPE_CHECKING:
    from khiip_indexer.config import Settings
    from khiip_indexer.storage.database import Database

_log = logging.getLogger(__name__)

ASIDE = ".aside"
LOG_FILES = ("-wal", "-shm")
_SAMPLE = 200


def make_way(state: Path) -> None:
    """Move folders aside that stand where the index keeps its files; it has no folders itself."""
    with translated(state / DATABASE_FILE):
        for path in state.iterdir():
            if path.is_dir() and not path.is_symlink() and path.suffix != ASIDE:
                _move_aside(path)


def _move_aside(path: Path) -> None:
    aside = path.with_name(path.name + ASIDE)
    _log.warning("%s is a folder, and no file; it is kept as %s", path.name, aside.name)
    shutil.rmtree(aside, ignore_errors=True)  # one that an earlier start had moved
    with suppress(FileNotFoundError):  # another start was faster
        path.replace(aside)


def set_aside_damaged(path: Path) -> None:
    """Move a cache that SQLite cannot read out of the way."""
    mark = path.with_name(DAMAGE_MARK)
    suspected = mark.exists() or not looks_like_database(path)
    if path.exists() and suspected and not is_whole(path):
        _log.warning("%s is damaged; building the index anew from the notes", path.name)
        set_aside(path)
    mark.unlink(missing_ok=True)


def set_aside(path: Path) -> None:
    """Rename a cache, its log with it, for `salvage` to take its vectors over."""
    aside = path.with_name(path.name + CORRUPT)
    for suffix in ("", *LOG_FILES):
        file = path.with_name(path.name + suffix)
        file.with_name(aside.name + suffix).unlink(missing_ok=True)
        if file.exists():
            file.replace(file.with_name(aside.name + suffix))


def rescue(database: Database) -> None:
    """Set aside what is still open of a cache whose file was deleted: for its vectors' sake."""
    aside = database.path.with_name(database.path.name + CORRUPT)
    if database.path.exists() or aside.exists():
        return  # another one has taken its place, with vectors of its own
    try:
        database.copy_to(aside)
    except KhiipError as error:
        _log.warning("no vectors could be saved of the deleted index: %s", error)
        aside.unlink(missing_ok=True)


def is_foreign(connection: sqlite3.Connection, settings: Settings) -> bool:
    """Whether the cache was made of another vault.

    A vault that was moved still has its notes; only where the cache names another place, and
    most of its notes are not here while others are, is it somebody else's.
    """
    known = connection.execute("SELECT value FROM meta WHERE key = 'vault_path'").fetchone()
    if known is None or known[0] == vault_key(settings):
        return False
    paths = connection.execute(
        "SELECT path FROM captures ORDER BY hash LIMIT ?", (_SAMPLE,)
    ).fetchall()
    here = sum(os.path.lexists(settings.vault / path) for (path,) in paths)
    return here * 2 < len(paths) and any(
        not path.name.startswith(".") for path in settings.vault.iterdir()
    )


def vault_key(settings: Settings) -> str:
    """A vault's place, in a form that any file name fits."""
    return os.fsencode(settings.vault).hex()
