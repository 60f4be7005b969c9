"""Keeps the hnswlib graph in step with the vectors in SQLite, and safely on disk."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from khiip_indexer import store
from khiip_indexer.storage.atomic import digest, write_through
from khiip_indexer.storage.database import Database
from khiip_indexer.storage.manifest import Manifest, matches, read_manifest, write_manifest
from khiip_indexer.storage.vector_log import (
    SAVED_GRAPH,
    changes_after,
    count_live,
    last_seq,
    live_at,
    reachable,
)
from khiip_indexer.types import ModelIdentity
from khiip_indexer.vectors import EXACT_LIMIT, Graph, Matrix, Vector

Near = TypeVar("Near", Graph, Matrix)

_log = logging.getLogger(__name__)
_PIECE = 1024


class GraphKeeper:
    """Owns what is searched in memory, and the graph's file.

    The truth is SQLite: `vectors` and the log of what became live or dead. The file holds the
    graph as of one log position; what the log says after it is applied on top. A small vault is
    searched exactly and needs the graph only to have it on disk for when it has grown. Without
    hnswlib every search is exact. `cache` is the user's own folder for what can be made again.
    """

    def __init__(self, state: Path, database: Database, cache: Path) -> None:
        self._state = state
        self._database = database
        self._cache = cache
        self._lock = threading.RLock()
        self._near: Graph | Matrix | None = None
        self._model: ModelIdentity | None = None
        self._faulty = False
        self._renewals = 0

    @property
    def degraded(self) -> str | None:
        """`no_hnsw` where hnswlib cannot be used: answers are exact, and slow in a large vault."""
        known = self._faulty or store.get_meta(self._database.read(), store.NO_GRAPH) is not None
        return "no_hnsw" if known else None

    def current(self, model: ModelIdentity | None = None) -> Graph | Matrix | None:
        """What can be searched, if it is loaded; a process that only reads follows the writer.

        With `model`, only what is of this one: when another has taken over, memory may still
        hold the former one's, or by now the next one's.
        """
        if not self._holds(model):
            return None
        if self._near is not None and self._is_behind(self._near):
            self.catch_up()
        near = self._near
        return near if self._holds(model) else None

    def _holds(self, model: ModelIdentity | None) -> bool:
        return model is None or self._model == model

    def _is_behind(self, near: Graph | Matrix) -> bool:
        connection = self._database.read()
        if self._database.renewals != self._renewals:
            return True
        return not self._database.writable and last_seq(connection) != near.seq

    def load(self, model: ModelIdentity) -> None:
        """Have every live vector of this model ready for searching, in memory."""
        with self._lock:
            if self._near is None or self._model != model:
                self._near = None  # a search that asks just now must not get another model's
                self._model = model
                self._near = self._loaded(model)
            self.catch_up()

    def _loaded(self, model: ModelIdentity) -> Graph | Matrix | None:
        self._renewals = self._database.renewals
        if count_live(self._database.read(), model) <= EXACT_LIMIT:
            return self._filled(Matrix(model.dimension), model)
        return self._graph(model)

    def _graph(self, model: ModelIdentity) -> Graph | None:
        """The graph: from its file when that is whole, else built; None without hnswlib."""
        try:
            from khiip_indexer import native

            native.require("hnswlib", self._cache)
            return self._from_file(model) or self._built(model)
        except ImportError as error:
            if not self._faulty:
                _log.error("%s", error)
            self._faulty = True
            return None

    def _from_file(self, model: ModelIdentity) -> Graph | None:
        manifest = read_manifest(self._state)
        connection = self._database.read()
        if manifest is None or manifest.model != model.key:
            return None
        if manifest.dimension != model.dimension or not reachable(connection, manifest.seq):
            return None
        # A file from another vault, or from a backup, may be whole and still not be ours.
        ours = store.get_meta(connection, SAVED_GRAPH) == manifest.sha256
        if not ours or not matches(self._state, manifest):
            # It stays where it is: another process may be about to say that it is right.
            _log.warning("%s is not what the index saved; building it anew", manifest.file)
            return None
        live = live_at(connection, model, manifest.seq)
        graph = Graph.load(self._state / manifest.file, model.dimension, live)
        graph.seq = manifest.seq
        return graph if len(graph) == len(live) else None

    def _built(self, model: ModelIdentity) -> Graph:
        count = count_live(self._database.read(), model)
        return self._filled(Graph(model.dimension, elements=count), model)

    def _filled(self, near: Near, model: ModelIdentity) -> Near:
        """All live vectors put in, as of one log position."""
        connection = self._database.read()
        connection.execute("BEGIN")
        try:
            near.seq = last_seq(connection)
            for labels, vectors in _live_vectors(connection, model):
                near.add(labels, vectors)
        finally:
            connection.rollback()
        return near

    def catch_up(self) -> None:
        """Apply what the log says since the position in memory."""
        with self._lock:
            if self._near is None or self._model is None:
                return
            connection = self._database.read()
            replaced = self._database.renewals != self._renewals
            if replaced or not reachable(connection, self._near.seq):
                self._near = self._loaded(self._model)
            elif isinstance(self._near, Graph) and self._near.wasteful:
                self._near = self._built(self._model)
            else:
                self._apply_log(connection, self._near, self._model)
            if isinstance(self._near, Matrix) and len(self._near) > EXACT_LIMIT:
                self._near = self._graph(self._model) or self._near

    def _apply_log(
        self, connection: sqlite3.Connection, near: Graph | Matrix, model: ModelIdentity
    ) -> None:
        for piece in changes_after(connection, near.seq):
            state = {label: live for _, label, live in piece}
            near.drop([label for label, live in state.items() if not live])
            wanted = [label for label, live in state.items() if live]
            labels, vectors = _vectors(connection, model, wanted)
            if labels:
                near.add(labels, vectors)
            near.seq = piece[-1][0]

    def save(self, model: ModelIdentity, generation: int) -> None:
        """Put the graph and its manifest on disk, then forget the log rows that it holds."""
        with self._lock:
            self.load(model)
            graph = self._to_save(model)
            self._remember_fault(missing=graph is None)
            if graph is None or not self._database.stands():
                return  # the folder was deleted, and may be another writer's now
            path = self._state / f"vectors.{generation}.hnsw"
            write_through(path, graph.save)
            size, sha256 = digest(path)
            write_manifest(
                self._state,
                Manifest(
                    generation, graph.seq, model.key, model.dimension,
                    graph.elements, path.name, size, sha256,
                ),
            )  # fmt: skip
            _sweep(self._state, path.name)
            with self._database.write() as connection:
                store.put_meta(connection, SAVED_GRAPH, sha256)
                connection.execute("DELETE FROM vector_changes WHERE seq <= ?", (graph.seq,))

    def _remember_fault(self, *, missing: bool) -> None:
        """Let processes that only read know that there is no graph to be had, until there is."""
        if not missing:
            self._faulty = False
        if missing == (store.get_meta(self._database.read(), store.NO_GRAPH) is not None):
            return
        with self._database.write() as connection:
            if missing:
                store.put_meta(connection, store.NO_GRAPH, "no_hnsw")
            else:
                store.drop_meta(connection, store.NO_GRAPH)

    def _to_save(self, model: ModelIdentity) -> Graph | None:
        """An up-to-date graph; where search is exact, one read or built just for this."""
        if isinstance(self._near, Graph):
            return self._near
        graph = self._graph(model)
        if graph is not None:
            self._apply_log(self._database.read(), graph, model)
            if graph.wasteful:
                graph = self._built(model)
        return graph


def _sweep(state: Path, keep: str) -> None:
    """Remove graph files of earlier generations; another reader has its own in memory."""
    for path in state.glob("vectors.*.hnsw"):
        if path.name != keep:
            path.unlink(missing_ok=True)


def _live_vectors(
    connection: sqlite3.Connection, model: ModelIdentity
) -> Iterator[tuple[list[int], Vector]]:
    cursor = connection.execute(
        "SELECT label, vector FROM vectors WHERE model = ? AND orphaned_at IS NULL ORDER BY label",
        (model.key,),
    )
    while rows := cursor.fetchmany(_PIECE):
        yield _unpack(rows, model.dimension)


def _vectors(
    connection: sqlite3.Connection, model: ModelIdentity, labels: Sequence[int]
) -> tuple[list[int], Vector]:
    marks = ", ".join("?" * len(labels))
    rows = connection.execute(
        f"SELECT label, vector FROM vectors WHERE model = ? AND label IN ({marks})",  # noqa: S608
        (model.key, *labels),
    ).fetchall()
    return _unpack(rows, model.dimension)


def _unpack(rows: Sequence[tuple[int, bytes]], dimension: int) -> tuple[list[int], Vector]:
    labels = [label for label, _ in rows]
    flat = np.frombuffer(b"".join(blob for _, blob in rows), dtype=np.float32)
    return labels, flat.reshape(len(labels), dimension)
