"""Proves that an index is whole: the cache in itself, its vectors, and the graph's file."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator

from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import texts
from khiip_indexer.storage.database import DATABASE_FILE, translated
from khiip_indexer.storage.manifest import MANIFEST_FILE, matches, read_manifest
from khiip_indexer.store import NO_GRAPH, text_key
from khiip_indexer.types import Problem

_FLOAT_BYTES = 4
_log = logging.getLogger(__name__)


def verify(index: VaultIndex) -> list[Problem]:
    """Everything in `.khiip` that is not as it must be; reads all of it, changes nothing."""
    connection = index.database.read()
    with translated(index.database.path):
        found = [*_cache(connection), *_texts(connection), *_words(connection)]
        model = index.model()
        if model is not None:
            found += _vectors(connection, model.key, model.dimension)
    found += _graph(index)
    return found


def _damage(file: str, reason: str) -> Problem:
    return Problem(file, "index_damaged", reason, hint="Run khiipd reindex: it repairs the index.")


def _cache(connection: sqlite3.Connection) -> Iterator[Problem]:
    for (line,) in connection.execute("PRAGMA integrity_check(20)"):
        if line != "ok":
            yield _damage(DATABASE_FILE, str(line))
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield _damage(DATABASE_FILE, f"row {row} of {table} belongs to no row of {parent}")


def _texts(connection: sqlite3.Connection) -> Iterator[Problem]:
    for key, text in connection.execute("SELECT key, text FROM passages"):
        if text_key(text) != key:
            yield _damage(DATABASE_FILE, "a passage is not the text that its vector was made of")
    lost = connection.execute(
        "SELECT path FROM captures WHERE row NOT IN (SELECT row FROM passages WHERE ordinal = 0) "
        "OR row NOT IN (SELECT row FROM payloads)"
    )
    for (path,) in lost:
        yield _damage(DATABASE_FILE, f"{path} is stored without its text")
    for (identity,) in connection.execute(
        "SELECT id FROM captures GROUP BY id HAVING COUNT(*) > 1"
    ):
        yield _damage(DATABASE_FILE, f"two captures have the id {identity}")


def _words(connection: sqlite3.Connection) -> Iterator[Problem]:
    for fault in texts.faults(connection):
        yield Problem(DATABASE_FILE, "index_damaged", fault, hint="Run khiipd reindex --full.")


def mend_words(index: VaultIndex) -> None:
    """Make the tables of words anew from the stored texts where they are not what they must be."""
    with index.database.write() as connection:
        if not texts.is_sound(connection):
            _log.warning("the tables of words were damaged and are made anew")
            texts.rebuild(connection)


def _vectors(connection: sqlite3.Connection, model: str, dimension: int) -> Iterator[Problem]:
    bad = connection.execute(
        "SELECT COUNT(*) FROM vectors WHERE model = ? AND length(vector) <> ?",
        (model, dimension * _FLOAT_BYTES),
    ).fetchone()[0]
    if bad:
        yield _damage(DATABASE_FILE, f"{bad} vectors have the wrong length")
    astray = connection.execute(
        "SELECT COUNT(*) FROM vectors WHERE model = ? AND (orphaned_at IS NULL) <> "
        "(key IN (SELECT key FROM passages))",
        (model,),
    ).fetchone()[0]
    if astray:
        yield _damage(
            DATABASE_FILE, f"{astray} vectors are counted live and are not, or not and are"
        )


def _graph(index: VaultIndex) -> Iterator[Problem]:
    manifest = read_manifest(index.settings.state)
    if manifest is None:
        if index.counts().vectors and index.meta(NO_GRAPH) is None:
            yield _damage(MANIFEST_FILE, "there is no manifest that can be read")
    elif not matches(index.settings.state, manifest):
        yield _damage(manifest.file, "the file is not the one that the manifest describes")
