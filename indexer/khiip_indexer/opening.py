"""Opens a vault's cache for writing: ours, whole, and with what could be saved of an older one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from khiip_indexer import store
from khiip_indexer.errors import VaultLocked
from khiip_indexer.storage.database import DATABASE_FILE, Database, translated

if TYPE_CHECKING:
    from khiip_indexer.config import Settings
    from khiip_indexer.lock import WriterLock


def writable(settings: Settings) -> Database:
    """The cache, opened for writing; what could be saved of a damaged one is taken over."""
    database = Database(settings.state / DATABASE_FILE, writable=True)
    try:
        make_ours(database, settings)
    except BaseException:
        database.close()
        raise
    return database


def take_up(database: Database, lock: WriterLock, settings: Settings, vault_id: str) -> None:
    """Go on in a folder that was deleted or replaced: with what is there now, else anew.

    Raises VaultLocked when another process writes there; then this one only reads.
    """
    from khiip_indexer.storage.folder import prepare_again
    from khiip_indexer.storage.repair import rescue

    try:
        prepare_again(settings, lock)
    except VaultLocked:
        database.let_go()
        raise
    if not database.stands():
        rescue(database)
        database.renew(lambda: None)
        make_ours(database, settings, vault_id)


def make_ours(database: Database, settings: Settings, vault_id: str | None = None) -> None:
    """Set another vault's cache aside, name the vault, and take saved vectors over."""
    from khiip_indexer.storage import repair
    from khiip_indexer.storage.salvage import salvage

    with translated(database.path):
        if repair.is_foreign(database.read(), settings):
            database.renew(lambda: repair.set_aside(database.path))
    with database.write() as connection:
        if vault_id:
            store.put_meta(connection, "vault_id", vault_id)
        store.vault_id(connection)  # a sidecar names it before the first note is read
        store.put_meta(connection, "vault_path", repair.vault_key(settings))
    salvage(database)
