"""What stored captures were made by."""

from __future__ import annotations

from datetime import datetime

from khiip_indexer import store
from khiip_indexer.formats import PROJECTION_VERSION
from khiip_indexer.storage import coming
from khiip_indexer.storage.database import Database
from khiip_indexer.types import ModelIdentity


def makers(identity: ModelIdentity) -> dict[str, str]:
    """What the index must remember as its makers, by the key under which it does."""
    return {
        "model": store.identity_text(identity),
        "model_key": identity.key,
        "projection": PROJECTION_VERSION,
    }


def adopt(database: Database, identity: ModelIdentity, now: datetime) -> tuple[bool, bool]:
    """Settle which model and projection the index is for, at once.

    Tells whether notes must be reread, and whether the model is another one than it was.
    """
    wanted = makers(identity)
    connection = database.read()
    if all(store.get_meta(connection, key) == value for key, value in wanted.items()):
        return store.get_meta(connection, "reread") is not None, False
    other = store.get_meta(connection, "model_key") != identity.key
    with database.write() as writer:
        store.vault_id(writer)
        if other:
            coming.forget(writer)
            coming.settle(writer, identity.key, int(now.timestamp()))
        # Remembered until it is done, so that an interrupted run goes on with it.
        for key, value in {**wanted, "reread": "all", "pending": "yes"}.items():
            store.put_meta(writer, key, value)
    return True, other


def keep(database: Database) -> None:
    """Stay with the model in use: if another was on its way, it is not any more."""
    if store.get_meta(database.read(), coming.COMING) is not None:
        with database.write() as writer:
            coming.forget(writer)
