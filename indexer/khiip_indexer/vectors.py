"""The hnswlib graph behind its lock, and exact search over stored vectors."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

# Measured on text vectors (tests/indexer/test_vectors.py): recall@10 stays above 0.995 with
# these, also after a third of the elements is deleted.
_LINKS = 24
_EF_BUILD = 200
_EF_LEAST = 200
_ROOM = 1024


class Graph:
    """Approximate nearest neighbours by label; inner product of unit vectors is their cosine.

    hnswlib may crash when a search meets an insertion, so every call holds one lock; writers
    insert in small pieces so that a reader never waits long.
    """

    def __init__(self, dimension: int, *, elements: int = 0) -> None:
        self.dimension = dimension
        self._index = _new_index(dimension)
        self._index.init_index(
            max_elements=elements + _ROOM, M=_LINKS, ef_construction=_EF_BUILD, random_seed=1
        )
        self._lock = threading.Lock()
        self._live: set[int] = set()
        self._dead: set[int] = set()

    @classmethod
    def load(cls, path: Path, dimension: int, live: Iterable[int]) -> Graph:
        """Read a graph file that has been verified.

        `live` are the labels that were live when it was saved; the others in it are deleted.
        """
        graph = cls.__new__(cls)
        graph.dimension = dimension
        graph._index = _new_index(dimension)
        graph._index.load_index(str(path), max_elements=0)
        graph._lock = threading.Lock()
        known = set(graph._index.get_ids_list())
        graph._live = known & set(live)
        graph._dead = known - graph._live
        return graph

    def __len__(self) -> int:
        return len(self._live)

    @property
    def elements(self) -> int:
        """Slots in use: hnswlib keeps the slot of a deleted label."""
        return len(self._live) + len(self._dead)

    @property
    def wasteful(self) -> bool:
        """Whether more slots are dead than live, so that building anew is worth it."""
        return len(self._dead) > len(self._live)

    def add(self, labels: Sequence[int], vectors: Vector) -> None:
        """Make these labels live; a label that was deleted comes back with its vector."""
        for start in range(0, len(labels), 64):
            piece = slice(start, start + 64)
            with self._lock:
                self._add(labels[piece], vectors[piece])

    def _add(self, labels: Sequence[int], vectors: Vector) -> None:
        fresh = [
            i
            for i, label in enumerate(labels)
            if label not in self._live and label not in self._dead
        ]
        for label in labels:
            if label in self._dead:
                self._index.unmark_deleted(label)
                self._dead.discard(label)
        if fresh:
            self._make_room(len(fresh))
            self._index.add_items(vectors[fresh], [labels[i] for i in fresh], num_threads=1)
        self._live.update(labels)

    def _make_room(self, more: int) -> None:
        needed = self._index.get_current_count() + more
        if needed > self._index.get_max_elements():
            self._index.resize_index(max(needed + _ROOM, needed * 5 // 4))

    def drop(self, labels: Iterable[int]) -> None:
        """Never find these labels again."""
        with self._lock:
            for label in self._live.intersection(labels):
                self._index.mark_deleted(label)
                self._live.discard(label)
                self._dead.add(label)

    def nearest(self, vector: Vector, k: int) -> list[int] | None:
        """Up to `k` labels, nearest first; None when the graph cannot reach that many."""
        with self._lock:
            k = min(k, len(self._live))
            if k == 0:
                return []
            self._index.set_ef(max(_EF_LEAST, k + k // 2))
            try:
                labels, _ = self._index.knn_query(vector, k=k, num_threads=1)
            except RuntimeError:
                # Fewer than k are reachable from the entry point: the caller searches exactly.
                return None
        return [int(label) for label in labels[0]]

    def save(self, path: Path) -> None:
        """Write the graph to `path` (not atomic: the caller renames)."""
        with self._lock:
            self._index.save_index(str(path))


def _new_index(dimension: int) -> Any:  # noqa: ANN401 -- hnswlib has no types
    import hnswlib

    return hnswlib.Index(space="ip", dim=dimension)


def cosines(vector: Vector, blobs: Sequence[bytes]) -> NDArray[np.float64]:
    """Cosine of a unit vector with each stored unit vector, in float64, rounded to 6 digits.

    The rounding makes the score that is shown the score that is compared. One code path scores
    all candidates, so a hit's score does not depend on how it was found.
    """
    matrix = np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(len(blobs), -1)
    # Row by row in float64: a blocked matrix product rounds differently with its shape.
    scores = np.einsum("ij,j->i", matrix.astype(np.float64), vector.astype(np.float64))
    rounded: NDArray[np.float64] = np.round(np.clip(scores, -1.0, 1.0), 6)
    return rounded
