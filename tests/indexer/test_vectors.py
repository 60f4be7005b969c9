"""The graph: exact enough, never crashing, never finding what was dropped."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from khiip_indexer.vectors import Graph, Matrix, cosines

DIMENSION = 64


def text_like(count: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors in clusters of low dimension, as sentence embeddings are."""
    rng = np.random.default_rng(seed)
    basis = np.random.default_rng(0).standard_normal((24, DIMENSION))
    centres = np.random.default_rng(1).standard_normal((40, 24))
    points = centres[rng.integers(0, 40, count)] + 0.7 * rng.standard_normal((count, 24))
    rows = points @ basis + 0.4 * rng.standard_normal((count, DIMENSION))
    unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
        np.float32
    )
    return unit


def recall_at_10(graph: Graph, vectors: NDArray[np.float32], live: list[int]) -> float:
    found = 0
    queries = text_like(100, seed=9)
    for query in queries:
        scores = vectors[live] @ query
        truth = {live[i] for i in np.argsort(-scores)[:10]}
        found += len(truth & set((graph.nearest(query, 64) or [])[:10]))
    return found / (10 * len(queries))


def test_ten_nearest_are_found_also_after_a_third_is_deleted() -> None:
    vectors = text_like(4000, seed=2)
    graph = Graph(DIMENSION)
    graph.add(range(4000), vectors)
    assert recall_at_10(graph, vectors, list(range(4000))) >= 0.995
    graph.drop(range(0, 4000, 3))
    left = [label for label in range(4000) if label % 3]
    assert recall_at_10(graph, vectors, left) >= 0.995


def test_asking_for_more_than_there_is_gives_all_and_zero_gives_none() -> None:
    graph = Graph(DIMENSION)
    query = text_like(1, seed=3)[0]
    assert graph.nearest(query, 5) == []
    graph.add(range(5), text_like(5, seed=4))
    assert sorted(graph.nearest(query, 20) or []) == [0, 1, 2, 3, 4]
    graph.drop([0, 1, 2, 3])
    assert graph.nearest(query, 20) == [4]


def test_a_dropped_label_comes_back_in_its_old_slot() -> None:
    vectors = text_like(3, seed=5)
    graph = Graph(DIMENSION)
    graph.add(range(3), vectors)
    graph.drop([1])
    assert 1 not in (graph.nearest(vectors[1], 3) or [])
    graph.add([1], vectors[1:2])
    assert (graph.nearest(vectors[1], 1)) == [1]
    assert graph.elements == 3


def test_capacity_grows_with_churn_and_says_when_most_slots_are_dead() -> None:
    graph = Graph(DIMENSION, elements=0)
    vectors = text_like(2500, seed=6)
    for label in range(2500):
        graph.add([label], vectors[label : label + 1])
        graph.drop([label - 1])
    assert len(graph) == 1
    assert graph.wasteful


def test_a_saved_graph_finds_the_same_and_keeps_its_deletions(tmp_path: Path) -> None:
    vectors = text_like(500, seed=7)
    graph = Graph(DIMENSION)
    graph.add(range(500), vectors)
    graph.drop(range(100))
    graph.save(tmp_path / "g")
    loaded = Graph.load(tmp_path / "g", DIMENSION, range(100, 500))
    query = text_like(1, seed=8)[0]
    assert loaded.nearest(query, 20) == graph.nearest(query, 20)
    loaded.add([3], vectors[3:4])
    assert loaded.nearest(vectors[3], 1) == [3]


def test_searching_while_another_thread_adds_resizes_and_saves_never_fails(tmp_path: Path) -> None:
    vectors = text_like(3000, seed=10)
    graph = Graph(DIMENSION)
    failures: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                for query in vectors[:20]:
                    graph.nearest(query, 10)
        except BaseException as error:  # noqa: BLE001 -- handed to the test
            failures.append(error)

    readers = [threading.Thread(target=search) for _ in range(3)]
    for reader in readers:
        reader.start()
    for start in range(0, 3000, 100):
        graph.add(range(start, start + 100), vectors[start : start + 100])
        if start % 500 == 0:
            graph.save(tmp_path / "g")
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert len(graph) == 3000


def test_a_score_does_not_depend_on_the_vectors_beside_it() -> None:
    vectors = text_like(50, seed=11)
    blobs = [row.tobytes() for row in vectors]
    together = cosines(vectors[0], blobs)
    assert together[0] == pytest.approx(1.0, abs=1e-6)
    assert [cosines(vectors[0], [blob])[0] for blob in blobs] == list(together)


def test_a_score_is_never_beyond_one() -> None:
    longer = (np.ones(DIMENSION, np.float32) / 7.99).astype(np.float32)
    assert cosines(longer, [longer.tobytes()])[0] <= 1.0


def test_the_matrix_finds_exactly_what_is_there_through_growth_and_deletions() -> None:
    vectors = text_like(2600, seed=12)
    matrix = Matrix(DIMENSION)
    matrix.add(range(2600), vectors)
    matrix.drop([*range(0, 2600, 3), 5000])
    matrix.add([0], vectors[:1])
    live = [0, *(label for label in range(2600) if label % 3)]
    assert len(matrix) == len(live)
    for query in text_like(20, seed=13):
        truth = {live[i] for i in np.argsort(-(vectors[live] @ query))[:25]}
        assert set(matrix.nearest(query, 25)) == truth
    assert sorted(matrix.nearest(vectors[0], 9999)) == sorted(live)
    matrix.drop(live)
    assert matrix.nearest(vectors[0], 3) == []


def test_a_graph_is_kept_where_the_path_is_not_utf_8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"v\xffx")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this system has no such names")
    graph, vectors = Graph(DIMENSION), text_like(20, seed=5)
    graph.add(range(20), vectors)
    graph.save(folder / "graph")
    again = Graph.load(folder / "graph", DIMENSION, range(20))
    assert again.nearest(vectors[3], 1) == [3]
