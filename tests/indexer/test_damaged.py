"""Files in `.khiip` that are not what they were: recovered from, never believed."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from equality import assert_equals_fresh
from indexing import found, reindex
from khiip_indexer import graphs
from khiip_indexer.config import Settings
from khiip_indexer.errors import IndexMissing, StorageError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.storage import database
from khiip_indexer.sync import Syncer, verify
from khiip_indexer.vectors import Graph
from support import FakeEmbedder, make_vault, word_vector

Damage = Callable[[Path], None]

TEXT = " ".join(f"word{n % 90}" for n in range(600))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = make_vault(tmp_path / "v", {f"{n}.md": f"note {n} {TEXT}" for n in range(40)})
    reindex(made, FakeEmbedder())
    return made


def graph_file(settings: Settings) -> Path:
    (path,) = settings.state.glob("vectors.*.hnsw")
    return path


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def flip_header(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[8:12] = bytes(255 - byte for byte in raw[8:12])
    path.write_bytes(bytes(raw))


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture
def no_exact_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search the graph however small the vault is."""
    monkeypatch.setattr(graphs, "EXACT_LIMIT", -1)


@pytest.mark.usefixtures("no_exact_search")
@pytest.mark.parametrize("damage", [truncate, flip_header, empty, Path.unlink])
def test_a_damaged_graph_file_is_never_loaded_and_is_built_anew_without_the_model(
    settings: Settings, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = found(settings, "word1 word2")
    damage(graph_file(settings))
    loads: list[object] = []
    monkeypatch.setattr(Graph, "load", lambda *a: loads.append(a))
    with VaultIndex.open(settings) as index:
        index.graphs.load(FakeEmbedder().identity)
        assert index.graphs.current() is not None
        hits = index.search(word_vector("word1 word2"), Filters(), limit=10).hits
    assert loads == []
    assert [hit.record.vault_path for hit in hits] == expected
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    assert embedder.texts == []


@pytest.mark.parametrize("content", ["", "{", "<<<<<<< HEAD\n", '{"format": 2}'])
def test_a_damaged_manifest_costs_a_rebuild_of_the_graph_and_no_embedding(
    settings: Settings, content: str
) -> None:
    (settings.state / "manifest.json").write_text(content)
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    assert embedder.texts == []
    with VaultIndex.open(settings) as index:
        assert verify(index) == []


@pytest.mark.parametrize("damage", [truncate, flip_header, empty])
def test_a_cache_that_is_no_database_is_built_anew_from_the_notes(
    settings: Settings, damage: Damage
) -> None:
    expected = found(settings, "word1 word2")
    damage(settings.state / "cache.sqlite")
    with pytest.raises((IndexMissing, StorageError)) as caught, VaultIndex.open(settings) as index:
        index.counts()
    assert "khiipd reindex" in (caught.value.hint or "")
    reindex(settings, FakeEmbedder())
    assert found(settings, "word1 word2") == expected
    with VaultIndex.open(settings) as index:
        assert verify(index) == []


def test_a_cache_with_torn_pages_gives_its_whole_vectors_back(settings: Settings) -> None:
    path = settings.state / "cache.sqlite"
    raw = bytearray(path.read_bytes())
    root = sqlite3.connect(path)
    page = root.execute("SELECT rootpage FROM sqlite_master WHERE name = 'captures'").fetchone()[0]
    root.close()
    raw[(page - 1) * 4096 : page * 4096] = os.urandom(4096)
    path.write_bytes(bytes(raw))
    with pytest.raises(StorageError), VaultIndex.open(settings) as index:
        index.counts()
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    assert embedder.texts == []
    assert len(found(settings, "word1", limit=100)) == 40
    assert not list(settings.state.glob("*.corrupt"))


def test_the_index_of_a_newer_version_is_refused_and_kept(settings: Settings) -> None:
    path = settings.state / "cache.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    for write in (False, True):
        with pytest.raises(IndexMissing, match="newer version"):
            VaultIndex.open(settings, write=write)
    assert path.exists()


def test_conflicted_copies_in_the_folder_are_ignored(settings: Settings) -> None:
    (settings.state / "cache (conflicted copy PC2).sqlite").write_bytes(b"junk")
    (settings.state / "vectors.1 2.hnsw").write_bytes(b"junk")
    assert found(settings, "word1")
    assert reindex(settings, FakeEmbedder()).behind == 0


@pytest.mark.usefixtures("no_exact_search")
def test_the_graph_of_another_vault_is_not_believed(tmp_path: Path, settings: Settings) -> None:
    other = make_vault(tmp_path / "other", {f"{n}.md": f"else {n}" for n in range(30)})
    reindex(other, FakeEmbedder())
    for name in ("manifest.json", graph_file(other).name):
        (settings.state / name).write_bytes((other.state / name).read_bytes())
    expected = found(settings, "word1 word2")
    with VaultIndex.open(settings) as index:
        index.graphs.load(FakeEmbedder().identity)
        hits = index.search(word_vector("word1 word2"), Filters(), limit=10).hits
    assert [hit.record.vault_path for hit in hits] == expected


def test_a_full_disk_while_the_graph_is_saved_leaves_the_previous_index(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = graph_file(settings).read_bytes()
    for n in range(40, 400):
        (settings.vault / f"{n}.md").write_text(f"note {n}")

    def full(self: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Graph, "save", full)
        with pytest.raises(StorageError, match="previous index is unchanged"):
            reindex(settings, FakeEmbedder())
    assert graph_file(settings).read_bytes() == before
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    assert embedder.texts == []
    assert "399.md" in found(settings, "note 399", limit=50)


def test_an_embedder_that_dies_at_note_ninety_leaves_the_first_ones_searchable(
    tmp_path: Path,
) -> None:
    settings = make_vault(tmp_path / "w", {f"{n}.md": f"note {n}" for n in range(100)})
    embedder = FakeEmbedder()

    class Dies(FakeEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            self.missing = len(self.texts) >= 90
            return super().embed(texts)

    with pytest.raises(Exception, match="model not found"):
        reindex(settings, Dies())
    assert len(found(settings, "note", limit=200)) >= 64
    reindex(settings, embedder)
    assert len(embedder.texts) <= 36


@pytest.mark.usefixtures("no_exact_search")
def test_five_hundred_edits_of_one_note_do_not_let_the_graph_grow(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "w", {f"{n}.md": f"note {n}" for n in range(100)})
    embedder = FakeEmbedder()
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder)
        syncer.run()
        index.graphs.load(embedder.identity)
        fresh = graph_file(settings).stat().st_size
        for n in range(500):
            (settings.vault / "0.md").write_text(f"edit number {n}")
            syncer.refetch("0.md")
        index.graphs.save(embedder.identity, 2)
        hits = index.search(word_vector("edit number 499"), Filters(), limit=200).hits
        assert [h.record.vault_path for h in hits].count("0.md") == 1
        assert hits[0].record.vault_path == "0.md"
    assert graph_file(settings).stat().st_size < 2 * fresh


def test_verify_names_what_is_wrong(settings: Settings) -> None:
    connection = sqlite3.connect(settings.state / "cache.sqlite")
    connection.execute("UPDATE passages SET text = 'other' WHERE passage = 1")
    connection.execute("UPDATE vectors SET vector = x'00' WHERE label = 2")
    connection.commit()
    connection.close()
    empty(graph_file(settings))
    with VaultIndex.open(settings) as index:
        reasons = " / ".join(problem.reason for problem in verify(index))
    assert "not the text" in reasons
    assert "wrong length" in reasons
    assert "not the one that the manifest describes" in reasons


@pytest.mark.parametrize(
    "change", ["DROP TABLE git_dates", "ALTER TABLE captures RENAME COLUMN renamed TO other"]
)
def test_tables_that_are_not_ours_are_found_by_the_run_that_needs_them_and_mended(
    settings: Settings, change: str
) -> None:
    connection = sqlite3.connect(settings.state / "cache.sqlite")
    connection.execute(change)
    connection.close()
    (settings.vault / "new.md").write_text("new")
    embedder = FakeEmbedder()
    assert reindex(settings, embedder).added == 41
    assert embedder.texts == ["new"]
    assert_equals_fresh(settings, FakeEmbedder())


def test_a_serving_process_mends_its_cache_and_keeps_its_name(settings: Settings) -> None:
    embedder = FakeEmbedder()
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder)
        syncer.run()
        name = index.vault_id
        breaker = sqlite3.connect(settings.state / "cache.sqlite")
        breaker.execute("DROP TABLE facets")
        breaker.close()
        (settings.vault / "new.md").write_text("new")
        syncer.run()
        assert index.vault_id == name
        hits = index.search(word_vector("new"), Filters(), limit=1).hits
        assert [hit.record.vault_path for hit in hits] == ["new.md"]
    assert embedder.texts == ["new"]
    assert_equals_fresh(settings, FakeEmbedder())


def test_the_cache_of_another_vault_is_set_aside_and_what_fits_is_kept(
    tmp_path: Path, settings: Settings
) -> None:
    notes = {f"x{n}.md": f"other {n}" for n in range(40)}
    other = make_vault(tmp_path / "other", {**notes, "same.md": "the same text"})
    reindex(other, FakeEmbedder())
    (settings.vault / "same.md").write_text("the same text")
    (settings.state / "cache.sqlite").write_bytes((other.state / "cache.sqlite").read_bytes())
    embedder = FakeEmbedder()
    report = reindex(settings, embedder)
    assert report.added == 41
    assert "the same text" not in embedder.texts
    assert_equals_fresh(settings, FakeEmbedder())


def test_a_vault_that_was_moved_keeps_its_index(tmp_path: Path, settings: Settings) -> None:
    settings.vault.rename(tmp_path / "elsewhere")
    moved = make_vault(tmp_path / "elsewhere", {})
    embedder = FakeEmbedder()
    assert reindex(moved, embedder).behind == 0
    assert embedder.texts == []


def test_damage_that_a_reader_met_is_mended_by_the_next_sync_of_a_serving_process(
    settings: Settings,
) -> None:
    embedder = FakeEmbedder()
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder)
        syncer.run()
        breaker = sqlite3.connect(settings.state / "cache.sqlite")
        breaker.execute("DROP TABLE payloads")
        breaker.close()
        record = index.capture_at("1.md")
        assert record is not None
        with pytest.raises(StorageError):
            index.payload(record)
        syncer.run()
        record = index.capture_at("1.md")
        assert record is not None
        assert "note 1" in index.payload(record)
    assert embedder.texts == []
    assert_equals_fresh(settings, FakeEmbedder())


@pytest.mark.parametrize("limit", [-1, 16_384])
def test_a_process_that_only_reads_follows_the_writer_and_a_cache_made_anew(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr(graphs, "EXACT_LIMIT", limit)
    monkeypatch.setattr(database, "_LOOK_SECONDS", 0.0)

    def first(reader: VaultIndex, query: str) -> str:
        return reader.search(word_vector(query), Filters(), limit=1).hits[0].record.vault_path

    with VaultIndex.open(settings) as reader:
        reader.graphs.load(FakeEmbedder().identity)
        (settings.vault / "new.md").write_text("brand new")
        reindex(settings, FakeEmbedder())
        assert first(reader, "brand new") == "new.md"
        for path in settings.state.glob("cache.sqlite*"):
            path.unlink()
        for n in range(20):
            (settings.vault / f"{n}.md").unlink()
        (settings.vault / "other.md").write_text("something else")
        reindex(settings, FakeEmbedder())
        assert first(reader, "something else") == "other.md"
        assert first(reader, "brand new") == "new.md"
        assert reader.counts().notes == 22
