"""What nobody needs any more goes, so that an index stays as large as its vault asks for."""

from __future__ import annotations

import logging
import sqlite3

from khiip_indexer.errors import StorageError
from khiip_indexer.storage import journal
from khiip_indexer.storage.coming import prune_others
from khiip_indexer.storage.database import Database

_log = logging.getLogger(__name__)

# Vectors that no note uses are kept for the branch or the backup that comes back.
KEEP_ORPHANS_SECONDS = 90 * 24 * 3600
KEEP_ORPHANS = 10_000
# Below this, giving room back is not worth writing the whole file anew.
_FREE_BYTES = 4 * 1024 * 1024


def prune(connection: sqlite3.Connection, model: str, now: int) -> None:
    """Drop old orphans, another model's vectors, failures of texts that are gone, old edits.

    `now` is in seconds since 1970. What other models made is kept for thirty days.
    """
    _prune_orphans(connection, model, now)
    prune_others(connection, model, now)
    journal.prune(connection, now)


def _prune_orphans(connection: sqlite3.Connection, model: str, now: int) -> None:
    """Of the orphans stay the young ones, as many as there are live vectors at most.

    The newest 10,000 stay whatever their age.
    """
    count = connection.execute(
        "SELECT COUNT(*) FROM vectors WHERE orphaned_at IS NOT NULL AND model = ?", (model,)
    ).fetchone()[0]
    if count <= KEEP_ORPHANS:
        return
    live = connection.execute(
        "SELECT COUNT(*) FROM vectors WHERE orphaned_at IS NULL AND model = ?", (model,)
    ).fetchone()[0]
    connection.execute(
        "DELETE FROM vectors WHERE label IN ("
        "SELECT label FROM vectors WHERE orphaned_at IS NOT NULL AND model = ?1 "
        "ORDER BY orphaned_at DESC, label DESC LIMIT -1 OFFSET ?2) "
        "AND (orphaned_at < ?3 OR label NOT IN ("
        "SELECT label FROM vectors WHERE orphaned_at IS NOT NULL AND model = ?1 "
        "ORDER BY orphaned_at DESC, label DESC LIMIT ?4))",
        (model, KEEP_ORPHANS, now - KEEP_ORPHANS_SECONDS, max(KEEP_ORPHANS, live)),
    )


def reclaim(database: Database) -> None:
    """Give room back to the disk when more than half of the cache's file is free."""
    connection = database.read()
    free, pages, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("freelist_count", "page_count", "page_size")
    )
    if free * 2 < pages or free * size < _FREE_BYTES:
        return
    try:
        database.vacuum()
    except StorageError as error:
        # It takes room to make room: a disk that is full leaves the file as it is, and whole.
        _log.warning("free pages of the cache stay where they are: %s", error.sentence)
