"""Search by meaning against the plainest possible truth."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from indexing import reindex
from khiip_indexer import graphs
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.vectors import Graph, Matrix
from support import FakeEmbedder, make_vault, word_vector

WORDS = [f"word{n}" for n in range(300)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A thousand notes of random words: every tenth is long, some carry tags and authors."""
    rng = random.Random(5)
    notes = {}
    for n in range(1000):
        text = " ".join(rng.choices(WORDS, k=20 if n % 10 else 700))
        head = f"---\nauthor: Writer {n % 7}\ntags: [t{n % 50}, deep/t{n % 3}]\n"
        head += f"created: 2026-01-{1 + n % 28:02d}\narchived: {str(n % 97 == 0).lower()}\n---\n"
        notes[f"f{n % 11}/n{n}.md"] = head + text
    settings = make_vault(tmp_path_factory.mktemp("library") / "v", notes)
    reindex(settings, FakeEmbedder())
    return settings


def truth(index: VaultIndex, query: str, paths: set[str], limit: int) -> list[tuple[str, float]]:
    """Best cosine by note, computed from every stored vector in plain NumPy."""
    best: dict[str, float] = {}
    rows = index.database.read().execute(
        "SELECT c.path, v.vector FROM captures c JOIN passages p USING (row) "
        "JOIN vectors v ON v.key = p.key"
    )
    for path, blob in rows:
        if path in paths:
            vector = np.frombuffer(blob, np.float32).astype(np.float64)
            score = round(float(vector @ word_vector(query).astype(np.float64)), 6)
            best[path] = max(best.get(path, -2.0), score)
    return sorted(best.items(), key=lambda item: -item[1])[:limit]


FILTERS = [
    (Filters(), lambda n: True),
    (Filters(folders=("f3",)), lambda n: n % 11 == 3),
    (Filters(tags=("t7",)), lambda n: n % 50 == 7),
    (Filters(tags=("deep",)), lambda n: True),
    (Filters(authors=("writer 2",)), lambda n: n % 7 == 2),
    (Filters(since="2026-01-20T00:00:00Z"), lambda n: n % 28 >= 19),
    (Filters(until="2026-01-03T00:00:00Z"), lambda n: n % 28 < 2),
    (Filters(folders=("f1",), tags=("t7", "t8")), lambda n: n % 11 == 1 and n % 50 in (7, 8)),
]


WAYS = ["graph", "matrix", "stored vectors"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the index is searched: by hnswlib, in memory, or straight from SQLite."""
    if request.param == "graph":
        monkeypatch.setattr(graphs, "EXACT_LIMIT", -1)
    return str(request.param)


def opened(settings: Settings, way: str) -> VaultIndex:
    index = VaultIndex.open(settings)
    model = index.model()
    assert model is not None
    if way != "stored vectors":
        index.graphs.load(model)
        kind = Graph if way == "graph" else Matrix
        assert isinstance(index.graphs.current(), kind)
    return index


@pytest.mark.parametrize(("filters", "lets_in"), FILTERS)
def test_the_top_ten_are_the_true_top_ten(  # type: ignore[no-untyped-def]
    library: Settings, filters: Filters, lets_in, way: str
) -> None:
    rng = random.Random(6)
    paths = {f"f{n % 11}/n{n}.md" for n in range(1000) if lets_in(n) and n % 97}
    with opened(library, way) as index:
        agreed = wanted = 0
        for _ in range(25):
            query = " ".join(rng.choices(WORDS, k=4))
            ranking = index.search(word_vector(query), filters, limit=10)
            expected = truth(index, query, paths, 10)
            assert ranking.total_candidates == len(paths)
            assert ranking.has_more == (len(paths) > 10)
            wanted += len(expected)
            agreed += len({h.record.vault_path for h in ranking.hits} & {p for p, _ in expected})
            known = dict(expected)
            for hit in ranking.hits:
                assert hit.score == pytest.approx(known.get(hit.record.vault_path, hit.score))
        assert agreed >= 0.995 * wanted


def test_pages_follow_each_other_without_gap_or_repetition(library: Settings, way: str) -> None:
    with opened(library, way) as index:
        vector = word_vector("word1 word2")
        whole = index.search(vector, Filters(), limit=60).hits
        pages = [index.search(vector, Filters(), limit=20, offset=n).hits for n in (0, 20, 40)]
    assert [h.record.id for page in pages for h in page] == [h.record.id for h in whole]


def test_a_score_exactly_at_the_floor_is_kept(library: Settings) -> None:
    with VaultIndex.open(library) as index:
        vector = word_vector("word1 word2")
        fifth = index.search(vector, Filters(), limit=5).hits[4].score
        kept = index.search(vector, Filters(), limit=50, min_score=fifth)
        above = index.search(vector, Filters(), limit=50, min_score=fifth + 1e-6)
    assert [hit.score >= fifth for hit in kept.hits] == [True] * 5
    assert not kept.has_more
    assert len(above.hits) == 4


def test_archived_notes_come_only_when_asked_for(library: Settings) -> None:
    with VaultIndex.open(library) as index:
        assert index.search(word_vector("x"), Filters(), limit=1).total_candidates == 989
        every = Filters(include_archived=True)
        assert index.search(word_vector("x"), every, limit=1).total_candidates == 1000


def test_neighbours_leave_out_the_note_itself(library: Settings) -> None:
    with VaultIndex.open(library) as index:
        record = index.capture_at("f3/n3.md")
        assert record is not None
        near = index.near(record, Filters(), limit=5)
        assert len(near.hits) == 5
        assert record.id not in {hit.record.id for hit in near.hits}
        assert near.total_candidates == 988


def test_fewer_notes_than_asked_for_are_all_of_them(tmp_path: Path, way: str) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(5)})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    for left in (5, 1, 0):
        for note in list(settings.vault.glob("*.md"))[left:]:
            note.unlink()
        reindex(settings, embedder)
        with opened(settings, way) as index:
            assert len(index.search(word_vector("note"), Filters(), limit=20).hits) == left


def test_the_last_words_of_twenty_thousand_are_found(tmp_path: Path) -> None:
    filler = " ".join(f"filler{n % 900}" for n in range(20_000))
    settings = make_vault(
        tmp_path / "v",
        {f"{n}.md": f"decoy {n}" for n in range(30)} | {"long.md": f"{filler} blue flowerpot key"},
    )
    reindex(settings, FakeEmbedder())
    with VaultIndex.open(settings) as index:
        hits = index.search(word_vector("blue flowerpot key"), Filters(), limit=3).hits
    assert hits[0].record.vault_path == "long.md"
