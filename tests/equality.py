"""The index equals a fresh one: what every scenario of a living index ends with."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from khiip_indexer.config import Settings
from khiip_indexer.embedder import Embedder
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import texts
from khiip_indexer.store import COLUMNS
from khiip_indexer.sync import Syncer, check, verify
from khiip_indexer.vectors import Graph, Matrix

# What a copy of a file cannot share with it.
_OWN = {"inode", "ctime_ns"}
_SAME = ", ".join(f"c.{name}" for name in COLUMNS if name not in _OWN)

QUERIES = {
    "captures": f"SELECT {_SAME}, c.is_head, c.next_id, c.renamed FROM captures c",
    "payloads": "SELECT c.path, p.json FROM payloads p JOIN captures c USING (row)",
    "facets": "SELECT c.path, f.kind, f.value FROM facets f JOIN captures c USING (row)",
    "passages": "SELECT c.path, p.ordinal, p.key, p.heading, p.line, p.text "
    "FROM passages p JOIN captures c USING (row)",
    "texts": "SELECT c.path, t.title, t.headings, t.tags, t.author, t.body, t.cut "
    "FROM texts t JOIN captures c USING (row)",
    "vectors": "SELECT v.model, v.key, v.vector FROM vectors v WHERE v.orphaned_at IS NULL",
    "failures": "SELECT f.model, f.key FROM failures f",
    "problems": "SELECT path, origin, line, code, reason, hint FROM problems",
}


def assert_equals_fresh(settings: Settings, embedder: Embedder) -> None:
    """Index a copy of the vault from nothing and compare everything that answers depend on.

    First lets the index take in what is left for a next run (the meaning of new file names).
    Needs the vault's lock.
    """
    _settle(settings, embedder)
    with tempfile.TemporaryDirectory() as folder:
        copy = _copy(settings, Path(folder))
        _settle(copy, embedder)
        for name, sql in QUERIES.items():
            _assert_same(name, _rows(settings, sql), _rows(copy, sql))
    _assert_sound(settings, embedder)


def _settle(settings: Settings, embedder: Embedder) -> None:
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder)
        while syncer.run().renamed:
            pass


def _copy(settings: Settings, folder: Path) -> Settings:
    """The vault elsewhere under the same name, file times and all, without its index.

    A vault in a repository is copied with all of that: its dates are in there.
    """
    above = (settings.vault, *settings.vault.parents)
    top = next((path for path in above if (path / ".git").exists()), settings.vault)
    leave = shutil.ignore_patterns(settings.state.name)
    shutil.copytree(top, folder / top.name, symlinks=True, ignore=leave)
    vault = folder / top.name / settings.vault.relative_to(top)
    return replace(settings, vault=vault, state=vault / settings.state.name)


def _rows(settings: Settings, sql: str) -> dict[tuple[object, ...], int]:
    """Rows with how often each is there."""
    with VaultIndex.open(settings) as index:
        rows: Iterable[tuple[object, ...]] = index.database.read().execute(sql).fetchall()
    counted: dict[tuple[object, ...], int] = {}
    for row in rows:
        counted[row] = counted.get(row, 0) + 1
    return counted


def _assert_same(
    name: str, ours: dict[tuple[object, ...], int], fresh: dict[tuple[object, ...], int]
) -> None:
    extra = [row for row in ours if fresh.get(row) != ours[row]]
    lacking = [row for row in fresh if ours.get(row) != fresh[row]]
    assert not extra and not lacking, (
        f"{name}: {len(extra)} rows only here, {len(lacking)} only in a fresh index\n"
        f"here:  {extra[:2]}\nfresh: {lacking[:2]}"
    )


def _assert_sound(settings: Settings, embedder: Embedder) -> None:
    with VaultIndex.open(settings, write=True) as index:
        assert verify(index) == []
        with index.database.write() as connection:
            assert texts.is_sound(connection)
        assert check(index, embedder.identity).behind == 0
        connection = index.database.read()
        index.graphs.load(embedder.identity)
        assert labels(index.graphs.current()) == live_labels(connection, embedder.identity.key)


def labels(near: Graph | Matrix | None) -> set[int]:
    """What can be found in memory."""
    if isinstance(near, Graph):
        return set(near._live)
    assert near is not None
    return set(near._places)


def live_labels(connection: sqlite3.Connection, model: str) -> set[int]:
    """What SQLite says can be found."""
    sql = "SELECT label FROM vectors WHERE orphaned_at IS NULL AND model = ?"
    return {label for (label,) in connection.execute(sql, (model,))}
