"""The real model over the sample vault: every question brings its note back, by meaning."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from khiip_indexer.config import Overrides, load_settings
from khiip_indexer.embedder import MiniLM
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.sync import Syncer, verify
from test_sample_vault import VAULT, each_question, notes


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[VaultIndex, MiniLM]]:
    """The sample vault, copied and indexed as a person would."""
    root = tmp_path_factory.mktemp("sample")
    shutil.copytree(VAULT, root / "sample", ignore=shutil.ignore_patterns(".khiip"))
    environ = {"KHIIP_HOME": str(root / "home")}
    settings = load_settings(Overrides(vault=str(root / "sample")), environ)
    embedder = MiniLM(cache_dir=settings.homes.cache)
    with VaultIndex.open(settings, write=True) as index:
        report = Syncer(index, embedder).run()
        assert report.pending == report.failed == 0
        yield index, embedder


@each_question
def test_the_note_comes_back(library: tuple[VaultIndex, MiniLM], question: dict[str, Any]) -> None:
    index, embedder = library
    vector = embedder.embed([question["query"]])[0]
    hits = index.search(vector, Filters(), limit=question["within"]).hits
    assert question["path"] in [hit.record.vault_path for hit in hits]


def test_every_note_is_a_capture_and_the_index_is_sound(
    library: tuple[VaultIndex, MiniLM],
) -> None:
    index, _ = library
    stored = {record.vault_path for record in index.page(everything(), limit=None)}
    assert stored == {str(Path(note)) for note in notes()}
    assert index.counts().searchable_by_meaning == len(stored)
    assert verify(index) == []


def everything() -> Filters:
    return Filters(include_archived=True, heads_only=False)


def test_nothing_excluded_or_deleted_is_in_the_index(library: tuple[VaultIndex, MiniLM]) -> None:
    index, _ = library
    paths = [record.vault_path for record in index.page(everything(), limit=None)]
    assert not [path for path in paths if path.startswith(("Private", ".trash", ".obsidian"))]


def test_a_payload_is_the_size_that_its_row_says(library: tuple[VaultIndex, MiniLM]) -> None:
    index, _ = library
    for record in index.page(everything(), limit=None):
        text = index.payload(record)
        assert len(text) == record.payload_chars
        assert json.loads(text)["kind"] == record.source


def test_a_note_is_near_itself_and_embedding_its_text_again_gives_its_vector(
    library: tuple[VaultIndex, MiniLM],
) -> None:
    index, embedder = library
    for record in index.page(Filters(), limit=10):
        vector = embedder.embed([index.embed_text(record)])[0]
        (hit, *_) = index.search(vector, Filters(), limit=1).hits
        assert hit.score == pytest.approx(1.0, abs=1e-4)
        assert np.isfinite(vector).all()
