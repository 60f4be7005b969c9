"""A vault's changes arrive in its index, once, and cost no embedding that was done before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from equality import assert_equals_fresh
from indexing import found, reindex, state_files, write
from khiip_indexer.errors import DeletionBrake, IndexMissing, VaultLocked
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters, Progress
from khiip_indexer.sync import Syncer, check
from khiip_indexer.syncing.text_phase import FileSeen, batches
from khiip_indexer.types import Fingerprint
from support import FakeEmbedder, make_vault, word_vector

LONG = "\n\n".join(f"Paragraph {n} tells of harbour number {n} and its lamps." for n in range(200))


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


def test_a_second_run_reads_and_embeds_nothing(tmp_path: Path, embedder: FakeEmbedder) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha", "b.md": LONG})
    first = reindex(settings, embedder)
    assert (first.added, first.pending) == (2, 0)
    assert first.embedded == len(embedder.texts) > 2
    second = reindex(settings, embedder)
    assert second.behind == second.embedded == 0
    assert embedder.texts == []


def test_after_one_edit_exactly_that_note_is_read_again(
    tmp_path: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(20)})
    for note in settings.vault.glob("*.md"):
        os.utime(note, (1, 1))
    reindex(settings, embedder)
    reindex(settings, embedder)
    write(settings, "7.md", "note seven, rewritten")
    opened: list[str] = []
    with VaultIndex.open(settings, write=True) as index:
        read = index.vault.read

        def watched(path: str) -> tuple[bytes, bool]:
            opened.append(path)
            return read(path)

        monkeypatch.setattr(index.vault, "read", watched)
        report = Syncer(index, embedder).run()
    assert report.changed == 1
    assert set(opened) == {"7.md"}


@pytest.mark.parametrize("target", ["b.md", "deep/er/a.md", "deep/b.md", "ü 東.md"])
def test_a_rename_or_move_embeds_nothing(
    tmp_path: Path, embedder: FakeEmbedder, target: str
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": LONG, "other.md": "else"})
    reindex(settings, embedder)
    (settings.vault / target).parent.mkdir(parents=True, exist_ok=True)
    (settings.vault / "a.md").rename(settings.vault / target)
    report = reindex(settings, embedder)
    assert (report.moved, report.added, report.removed) == (1, 0, 0)
    assert embedder.texts == []
    assert target in found(settings, "harbour lamps")
    assert "a.md" not in found(settings, "harbour lamps", limit=100)


def test_the_meaning_of_a_new_file_name_is_taken_in_by_the_next_run(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"Untitled.md": "body", "h.md": "# Heading\n\nbody"})
    reindex(settings, embedder)
    (settings.vault / "Untitled.md").rename(settings.vault / "Quipu.md")
    (settings.vault / "h.md").rename(settings.vault / "other.md")
    report = reindex(settings, embedder)
    assert (report.embedded, report.renamed) == (0, 1)
    report = reindex(settings, embedder)
    assert (report.embedded, report.renamed) == (1, 0)
    assert "Quipu" in embedder.texts[0]
    assert found(settings, "quipu")[0] == "Quipu.md"
    assert reindex(settings, embedder).embedded == 0


def test_content_that_comes_back_embeds_nothing(tmp_path: Path, embedder: FakeEmbedder) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "on the main branch"})
    reindex(settings, embedder)
    write(settings, "a.md", "on the other branch")
    reindex(settings, embedder)
    write(settings, "a.md", "on the main branch")
    assert reindex(settings, embedder).changed == 1
    assert embedder.texts == []
    assert found(settings, "main") == ["a.md"]


def test_an_edit_at_the_end_of_a_long_note_embeds_only_its_last_passages(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": LONG})
    reindex(settings, embedder)
    before = list(embedder.texts)
    write(settings, "a.md", LONG + "\n\nA spare key hides below the blue pot.")
    report = reindex(settings, embedder)
    assert 1 <= report.embedded <= 3 < len(before)


def test_equal_texts_share_one_vector_and_stay_two_notes(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    text = "---\ntitle: Same\n---\nword for word"
    settings = make_vault(tmp_path / "v", {"a.md": text, "b.md": text})
    reindex(settings, embedder)
    assert len(embedder.texts) == 1
    assert sorted(found(settings, "word for word")) == ["a.md", "b.md"]
    (settings.vault / "a.md").unlink()
    reindex(settings, embedder)
    assert found(settings, "word for word") == ["b.md"]


def test_a_deleted_note_is_gone(tmp_path: Path, embedder: FakeEmbedder) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha", "b.md": "beta"})
    reindex(settings, embedder)
    (settings.vault / "a.md").unlink()
    assert reindex(settings, embedder).removed == 1
    assert found(settings, "alpha") == ["b.md"]


def test_full_reads_everything_again_and_embeds_nothing(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha", "b.md": LONG})
    reindex(settings, embedder)
    report = reindex(settings, embedder, full=True)
    assert report.embedded == 0
    assert found(settings, "alpha")[0] == "a.md"


def test_another_model_embeds_everything_and_its_vectors_never_meet_the_old_ones(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha", "b.md": "beta"})
    reindex(settings, embedder)
    other = FakeEmbedder(name="other", dimension=32)
    report = reindex(settings, other)
    assert report.embedded == 2
    with VaultIndex.open(settings) as index:
        assert index.model() == other.identity
        hits = index.search(word_vector("alpha", 32), Filters(), limit=5).hits
        assert [hit.record.vault_path for hit in hits] == ["a.md", "b.md"]


def test_first_vectors_come_before_other_passages_and_newest_notes_first(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"old.md": LONG, "new.md": "short news"})
    os.utime(settings.vault / "old.md", (1_000_000, 1_000_000))
    reindex(settings, embedder)
    assert "short news" in embedder.texts[0]
    assert "Paragraph 0 " in embedder.texts[1]
    assert all("Paragraph" in text for text in embedder.texts[2:])


def test_a_run_that_was_stopped_goes_on_where_it_was(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(200)})
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder)

        def stop_at_half(progress: Progress) -> None:
            if progress.phase == "first_vectors" and progress.done >= 96:
                syncer.stop()

        first = syncer.run(progress=stop_at_half)
    assert not first.complete
    assert 0 < first.embedded < 200
    done = set(embedder.texts)
    second = reindex(settings, embedder)
    assert second.embedded == 200 - first.embedded
    assert done.isdisjoint(embedder.texts)


def test_a_text_the_model_fails_on_is_set_aside_and_retried_three_times(tmp_path: Path) -> None:
    embedder = FakeEmbedder(fail_on=lambda text: "poison" in text)
    settings = make_vault(
        tmp_path / "v", {f"{n}.md": f"good {n}" for n in range(5)} | {"bad.md": "poison"}
    )
    first = reindex(settings, embedder)
    assert (first.embedded, first.failed) == (5, 1)
    for _ in range(4):
        reindex(settings, embedder)
    with VaultIndex.open(settings) as index:
        bad = index.capture_at("bad.md")
        assert bad is not None
        assert bad.extraction_status == "failed-permanent"
        assert bad.extraction_attempts == 3
        assert "the model failed" in (bad.extraction_error or "")
        assert [p.path for p in index.problems()] == ["bad.md"]
    embedder.fail_on = None
    assert reindex(settings, embedder).embedded == 0
    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder).refetch("bad.md")
        again = index.capture_at("bad.md")
        assert again is not None
        assert again.extraction_status == "success"
        assert index.problems() == []


def test_a_vault_that_is_mostly_gone_keeps_its_index_until_told_otherwise(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(30)})
    reindex(settings, embedder)
    for n in range(1, 30):
        (settings.vault / f"{n}.md").unlink()
    write(settings, "fresh.md", "fresh")
    with pytest.raises(DeletionBrake, match="29 notes"):
        reindex(settings, embedder)
    with VaultIndex.open(settings) as index:
        assert index.counts().notes == 31
    assert reindex(settings, embedder, accept_deletions=True).removed == 29


def test_the_index_folder_keeps_itself_out_of_git_and_leaves_nothing_behind(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha"})
    (settings.state).mkdir()
    (settings.state / "manifest.json.99.tmp").write_text("left by a crash")
    reindex(settings, embedder)
    assert (settings.state / ".gitignore").read_text() == "*\n"
    assert state_files(settings) == {
        ".gitignore", "cache.sqlite", "lock", "manifest.json", "vectors.1.hnsw",
    }  # fmt: skip


def test_notes_are_never_written(tmp_path: Path, embedder: FakeEmbedder) -> None:
    settings = make_vault(
        tmp_path / "v", {"a.md": "---\nname: a\naliases:\n  * bar\n---\nbody", "b.md": LONG}
    )
    before = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in settings.vault.rglob("*.md")}
    reindex(settings, embedder)
    found(settings, "harbour")
    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder).refetch("a.md")
    after = {p: (p.read_bytes(), p.stat().st_mtime_ns) for p in settings.vault.rglob("*.md")}
    assert after == before


def test_a_second_writer_is_refused_with_the_first_ones_pid(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha"})
    with VaultIndex.open(settings, write=True), pytest.raises(VaultLocked) as caught:
        VaultIndex.open(settings, write=True)
    assert str(os.getpid()) in caught.value.sentence
    reindex(settings, embedder)


def test_a_lock_file_left_by_a_dead_process_never_blocks(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha"})
    settings.state.mkdir()
    (settings.state / "lock").write_text("1")
    (settings.state / "writer.json").write_text('{"pid": 1, "role": "serve"}')
    assert reindex(settings, embedder).added == 1


def test_there_is_nothing_to_read_before_the_first_index(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha"})
    with pytest.raises(IndexMissing):
        VaultIndex.open(settings)


def test_check_tells_what_a_run_would_do_and_does_none_of_it(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha", "b.md": "beta", "c.md": "gamma"})
    reindex(settings, embedder)
    write(settings, "a.md", "changed")
    write(settings, "d.md", "new")
    (settings.vault / "b.md").unlink()
    (settings.vault / "c.md").rename(settings.vault / "moved.md")
    with VaultIndex.open(settings) as index:
        report = check(index)
        assert (report.added, report.changed, report.moved, report.removed) == (1, 1, 1, 1)
        assert index.capture_at("d.md") is None


def test_a_note_that_cannot_be_read_keeps_what_was_known_and_is_a_problem(
    tmp_path: Path, embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from khiip_indexer.errors import VaultError

    settings = make_vault(tmp_path / "v", {"a.md": "alpha", "b.md": "beta"})
    reindex(settings, embedder)
    write(settings, "a.md", "alpha two")
    with VaultIndex.open(settings, write=True) as index:
        read = index.vault.read

        def refuse(path: str) -> tuple[bytes, bool]:
            if path == "a.md":
                raise VaultError("The note a.md cannot be read: Permission denied.")
            return read(path)

        monkeypatch.setattr(index.vault, "read", refuse)
        report = Syncer(index, embedder).run()
        assert [p.path for p in report.problems] == ["a.md"]
        assert index.capture_at("a.md") is not None
    assert reindex(settings, embedder).changed == 1
    with VaultIndex.open(settings) as index:
        assert index.problems() == []


def test_a_byte_order_mark_or_other_line_ends_are_no_change(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "---\ntitle: Pump\n---\nBody\n"})
    reindex(settings, embedder)
    (settings.vault / "a.md").write_bytes(b"\xef\xbb\xbf---\r\ntitle: Pump\r\n---\r\nBody\r\n")
    report = reindex(settings, embedder)
    assert report.behind == 0
    assert embedder.texts == []


def test_notes_in_a_folder_that_became_excluded_leave_with_their_vectors(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "alpha", "Private/b.md": "secret"})
    reindex(settings, embedder)
    app = settings.vault / ".obsidian" / "app.json"
    app.write_text('{"userIgnoreFilters": ["Private/"]}')
    assert reindex(settings, embedder).removed == 1
    assert found(settings, "secret") == ["a.md"]


def test_a_giant_note_does_not_keep_the_others_from_being_found(
    tmp_path: Path, embedder: FakeEmbedder
) -> None:
    giant = "one line\n\n" * 150_000  # newest, and more than 1 MB
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(3)})
    for note in settings.vault.glob("*.md"):
        os.utime(note, (1, 1))
    write(settings, "giant.md", giant)
    read: list[str] = []
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder)

        def stop_before_the_giant(progress: Progress) -> None:
            if progress.path:
                read.append(progress.path)
            if progress.path == "giant.md":
                syncer.stop()

        report = syncer.run(progress=stop_before_the_giant)
        assert index.counts().notes == 3
        assert index.counts().last_reconcile is None  # the vault was not seen to its end
    assert (report.complete, read[-1]) == (False, "giant.md")


def test_a_transaction_holds_few_notes_and_few_bytes() -> None:
    def files(*sizes: int) -> list[FileSeen]:
        return [(f"{n}.md", Fingerprint(size, 0, 0, n)) for n, size in enumerate(sizes)]

    assert [len(each) for each in batches(files(*[10] * 130))] == [64, 64, 2]
    assert [len(each) for each in batches(files(3_000_000, 3_000_000, 9_000_000, 1))] == [
        1,
        1,
        1,
        1,
    ]
    assert list(batches([])) == []


def test_a_note_whose_file_was_only_touched_takes_its_new_date(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": "a", "b.md": "---\ncreated: 2001-01-01\n---\nb"})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    for name in ("a.md", "b.md"):
        os.utime(settings.vault / name, (1_600_000_000, 1_600_000_000))
    assert reindex(settings, embedder).behind == 0
    assert embedder.texts == []
    assert_equals_fresh(settings, embedder)
