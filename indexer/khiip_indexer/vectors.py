"""Nearest vectors: the hnswlib graph behind its lock, and a matrix that is searched exactly."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]

# Measured on vectors of real notes, many of them near-duplicates: recall@10 is 0.997 with these,
# and stays above 0.995 after a third of the elements is deleted.
_LINKS = 24
_EF_BUILD = 200
_EF_LEAST = 400
_ROOM = 1024

# Up to here one pass over all vectors is as fast as the graph, and exact.
EXACT_LIMIT = 16_384


class Graph:
    """Approximate nearest neighbours by label; inner product of unit vectors is their cosine.

    `seq` is for the owner: the position of the change log that the graph stands at.
    hnswlib may crash when a search meets an insertion, so every call holds one lock; writers
    insert in small pieces so that a reader never waits long.
    """

    def __init__(self, dimension: int, *, elements: int = 0) -> None:
        self.seq = 0
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
        graph.seq = 0
        graph._index = _new_index(dimension)
        graph._index.load_index(os.fsencode(path), max_elements=0)
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
            self._index.save_index(os.fsencode(path))


class Matrix:
    """Exact nearest neighbours by label, for as many vectors as one pass over them is quick.

    `seq` is for the owner, as in Graph.
    """

    def __init__(self, dimension: int) -> None:
        self.seq = 0
        self._rows: Vector = np.zeros((_ROOM, dimension), np.float32)
        self._labels: NDArray[np.int64] = np.zeros(_ROOM, np.int64)
        self._places: dict[int, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, labels: Sequence[int], vectors: Vector) -> None:
        """Make these labels findable."""
        with self._lock:
            fresh = [i for i, label in enumerate(labels) if label not in self._places]
            count = len(self._places)
            if count + len(fresh) > len(self._labels):
                self._grow(count + len(fresh))
            for place, i in enumerate(fresh, count):
                self._rows[place] = vectors[i]
                self._labels[place] = labels[i]
                self._places[labels[i]] = place

    def _grow(self, needed: int) -> None:
        more = max(needed, len(self._labels) * 2) - len(self._labels)
        self._rows = np.pad(self._rows, ((0, more), (0, 0)))
        self._labels = np.pad(self._labels, (0, more))

    def drop(self, labels: Iterable[int]) -> None:
        """Never find these labels again; the last row takes the freed place."""
        with self._lock:
            for label in labels:
                place = self._places.pop(label, None)
                last = len(self._places)
                if place is not None and place != last:
                    self._rows[place] = self._rows[last]
                    self._labels[place] = self._labels[last]
                    self._places[int(self._labels[place])] = place

    def nearest(self, vector: Vector, k: int) -> list[int]:
        """The `k` nearest labels, in no particular order."""
        with self._lock:
            count = len(self._places)
            scores = self._rows[:count] @ vector
            if k < count:
                chosen = np.argpartition(scores, count - k)[count - k :]
                return [int(label) for label in self._labels[chosen]]
            return [int(label) for label in self._labels[:count]]


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
