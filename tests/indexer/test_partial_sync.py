"""A sync of named notes and folders: it sees those, all of those, and nothing else."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from equality import assert_equals_fresh
from indexing import found, write
from khiip_indexer.config import Settings
from khiip_indexer.errors import DeletionBrake, VaultError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Progress, SyncReport
from khiip_indexer.sync import Syncer
from khiip_indexer.syncing.work import Scan
from khiip_indexer.types import Problem
from khiip_indexer.vault import Vault
from support import FakeEmbedder, make_vault

NOTES = {
    "quipu.md": "knots on cords\n",
    "sea/tide.md": "the moon pulls the sea\n",
    "sea/deep/whale.md": "whales sing in the deep\n",
    "sea-ice.md": "ice floats\n",
}


class Living:
    """An index that stays open, and its syncs."""

    def __init__(self, settings: Settings, index: VaultIndex, embedder: FakeEmbedder) -> None:
        self.settings = settings
        self.index = index
        self.embedder = embedder
        self.now = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)
        self.syncer = Syncer(index, embedder, clock=lambda: self.now)

    def run(self, *paths: str) -> SyncReport:
        self.embedder.texts.clear()
        return self.syncer.run(paths=paths)

    def whole(self) -> SyncReport:
        self.embedder.texts.clear()
        return self.syncer.run()

    def write(self, path: str, text: str) -> Path:
        return write(self.settings, path, text)

    def paths(self) -> set[str]:
        rows = self.index.database.read().execute("SELECT path FROM captures")
        return {path for (path,) in rows}


@contextmanager
def living(root: Path, notes: dict[str, str]) -> Iterator[Living]:
    settings, embedder = make_vault(root, notes), FakeEmbedder()
    with VaultIndex.open(settings, write=True) as index:
        house = Living(settings, index, embedder)
        house.whole()
        yield house
    assert_equals_fresh(settings, embedder)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Living]:
    with living(tmp_path / "vault", NOTES) as opened:
        yield opened


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notes whose bytes are read, as they are read."""
    paths: list[str] = []
    read = Vault._read

    def counting(self: Vault, path: str, limit: int) -> tuple[bytes, bool]:
        paths.append(path)
        return read(self, path, limit)

    monkeypatch.setattr(Vault, "_read", counting)
    return paths


def test_an_edit_is_taken_in_and_no_other_note_is_opened(house: Living, opened: list[str]) -> None:
    house.write("quipu.md", "knots on coloured cords\n")
    house.write("sea-ice.md", "an edit that nobody named\n")
    opened.clear()
    report = house.run("quipu.md")
    assert (report.changed, report.added, report.removed) == (1, 0, 0)
    assert set(opened) == {"quipu.md"}
    assert found(house.settings, "coloured", limit=1) == ["quipu.md"]
    assert house.whole().changed == 1


def test_a_folder_is_looked_at_with_all_that_is_in_it(house: Living) -> None:
    house.write("sea/reef/coral.md", "corals build\n")
    house.write("sea/tide.md", "the sun pulls too\n")
    (house.settings.vault / "sea/deep/whale.md").unlink()
    house.write("sea-ice.md", "an edit that nobody named\n")
    report = house.run("sea")
    assert (report.added, report.changed, report.removed) == (1, 1, 1)
    assert house.paths() == {"quipu.md", "sea/tide.md", "sea/reef/coral.md", "sea-ice.md"}


def test_a_deletion_is_only_of_named_paths(house: Living) -> None:
    (house.settings.vault / "quipu.md").unlink()
    (house.settings.vault / "sea-ice.md").unlink()
    assert house.run("quipu.md", "nowhere.md").removed == 1
    assert house.paths() == {"sea/tide.md", "sea/deep/whale.md", "sea-ice.md"}


def test_a_rename_is_one_when_both_ends_are_named(house: Living) -> None:
    before = house.index.capture_at("quipu.md")
    (house.settings.vault / "quipu.md").rename(house.settings.vault / "sea/quipu.md")
    report = house.run("sea/quipu.md", "quipu.md")
    assert (report.moved, report.added, report.removed) == (1, 0, 0)
    assert house.embedder.texts == []
    after = house.index.capture_at("sea/quipu.md")
    assert before is not None
    assert after is not None
    assert after.row == before.row


def test_ends_of_a_rename_seen_one_by_one_embed_nothing_either(house: Living) -> None:
    (house.settings.vault / "quipu.md").rename(house.settings.vault / "sea/quipu.md")
    house.run("quipu.md")
    assert house.embedder.texts == []
    house.run("sea/quipu.md")
    assert house.embedder.texts == []
    assert "sea/quipu.md" in house.paths()


def test_a_moved_folder_embeds_nothing(house: Living) -> None:
    (house.settings.vault / "sea").rename(house.settings.vault / "ocean")
    report = house.run("sea", "ocean")
    assert (report.moved, report.added, report.removed) == (2, 0, 0)
    assert house.embedder.texts == []


def test_nothing_new_writes_nothing(house: Living) -> None:
    database = house.index.database.path
    log = database.with_name(database.name + "-wal")
    before = log.stat()
    report = house.run("quipu.md", "sea", "not a note.txt", "nowhere")
    after = log.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert report.behind == 0


def test_excluded_notes_stay_out_even_when_they_are_named(house: Living) -> None:
    for path in (".trash/old.md", "node_modules/p/README.md", "sea/.hidden.md"):
        house.write(path, "not a note\n")
    house.run(".trash/old.md", ".trash", "node_modules/p", "sea/.hidden.md", "sea/.hidden.md/..")
    assert house.paths() == set(NOTES)


def test_a_new_rule_makes_the_whole_vault_looked_at(house: Living) -> None:
    (house.settings.vault / ".khiipignore").write_text("sea/\n")
    house.write("quipu.md", "knots on coloured cords\n")
    report = house.run("quipu.md")
    assert (report.changed, report.removed) == (1, 2)
    assert house.paths() == {"quipu.md", "sea-ice.md"}


@pytest.mark.skipif(os.name != "posix", reason="symlinks")
def test_symlinked_folders_are_judged_with_the_whole_vault(house: Living) -> None:
    vault = house.settings.vault
    (vault / "a link").symlink_to("sea", target_is_directory=True)
    house.whole()
    before = house.paths()
    house.write("sea/tide.md", "the sun pulls too\n")
    house.run("sea/tide.md", "a link/tide.md")
    assert house.paths() == before
    shutil.rmtree(vault / "sea")
    house.run("sea")
    assert "sea/tide.md" not in house.paths()


def test_a_note_that_became_a_folder_is_gone_and_its_notes_are_there(house: Living) -> None:
    (house.settings.vault / "quipu.md").unlink()
    house.write("quipu.md/inner.md", "inside a folder with a note's name\n")
    house.run("quipu.md")
    assert house.paths() - set(NOTES) == {"quipu.md/inner.md"}
    assert "quipu.md" not in house.paths()


def test_edits_between_two_whole_looks_are_not_stale_after_them(house: Living) -> None:
    house.write("quipu.md", "first\n")
    house.run("quipu.md")
    status = (house.settings.vault / "quipu.md").stat()
    house.write("quipu.md", "other\n")  # as long as before
    os.utime(house.settings.vault / "quipu.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    house.whole()
    assert found(house.settings, "other", limit=1) == ["quipu.md"]


def test_a_missing_vault_drops_nothing(house: Living) -> None:
    vault = house.settings.vault
    vault.rename(vault.with_name("elsewhere"))
    try:
        with pytest.raises(VaultError):
            house.run("quipu.md")
        assert house.paths() == set(NOTES)
    finally:
        vault.with_name("elsewhere").rename(vault)


def many(count: int) -> dict[str, str]:
    return {f"f{number % 4}/{number}.md": f"note number {number}\n" for number in range(count)}


def test_the_brake_holds_for_named_paths_and_lets_go_when_the_notes_are_back(
    tmp_path: Path,
) -> None:
    with living(tmp_path / "vault", many(40)) as house:
        vault = house.settings.vault
        away = tmp_path / "away"
        away.mkdir()
        for name in ("f0", "f1", "f2"):
            (vault / name).rename(away / name)
        with pytest.raises(DeletionBrake):
            house.run("f0", "f1", "f2")
        assert len(house.paths()) == 40
        assert house.index.meta("suspect") == "30"
        for name in ("f0", "f1", "f2"):
            (away / name).rename(vault / name)
        # Whichever path is named next: what is suspect is looked at as a whole.
        assert house.run("f3/3.md").complete
        assert house.index.meta("suspect") == "0"
        assert house.embedder.texts == []


def test_a_vault_that_goes_in_pieces_is_held_by_the_brake(tmp_path: Path) -> None:
    with living(tmp_path / "vault", many(40)) as house:
        away = tmp_path / "away"
        away.mkdir()
        with pytest.raises(DeletionBrake):
            for name in ("f0", "f1", "f2"):
                (house.settings.vault / name).rename(away / name)
                house.now += timedelta(seconds=5)
                house.run(name)
        assert len(house.paths()) == 20
        for name in ("f0", "f1", "f2"):
            (away / name).rename(house.settings.vault / name)
        house.run("f0", "f1")
        assert len(house.paths()) == 40
        assert house.embedder.texts == []


def test_the_same_pieces_over_an_hour_are_everyday_deletions(tmp_path: Path) -> None:
    with living(tmp_path / "vault", many(60)) as house:
        for name in ("f0", "f1", "f2"):
            shutil.rmtree(house.settings.vault / name)
            house.now += timedelta(minutes=20)
            house.run(name) if name != "f2" else None
        assert len(house.paths()) == 30
        shutil.copytree(house.settings.vault / "f3", house.settings.vault / "f2")
        house.run("f2")


def test_edits_are_taken_in_while_vectors_are_made(tmp_path: Path) -> None:
    with living(tmp_path / "vault", {"first.md": "first\n"}) as house:
        for number in range(200):
            house.write(f"n{number}.md", f"note number {number}\n")
        edits = [["urgent.md"], [], ["n3.md"], ["first.md"]]
        seen: list[list[str]] = []

        def noticed() -> list[str]:
            if not edits:
                return []
            paths = edits.pop(0)
            seen.append(found(house.settings, "urgently written", limit=1))
            for path in paths:
                house.write(path, f"urgently written {path}\n")
            return paths

        house.syncer.run(noticed=noticed)
        assert seen[0] != ["urgent.md"]
        assert seen[1] == ["urgent.md"]
        assert edits == []
        assert house.index.meta("pending") is None
        assert house.index.counts().searchable_by_meaning == 202


def test_a_backlog_of_vectors_is_made_up_for_by_the_next_sync_of_any_note(house: Living) -> None:
    for number in range(100):
        house.write(f"n{number}.md", f"note number {number}\n")

    def stop(progress: Progress) -> None:
        if progress.phase == "first_vectors" and progress.done:
            house.syncer.stop()

    assert not house.syncer.run(progress=stop).complete
    assert house.index.counts().pending > 0
    house.run("quipu.md")
    assert house.index.counts().pending == 0


def test_a_read_that_hangs_keeps_the_note_and_holds_up_nothing(
    house: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    read = Vault._read

    def hanging(self: Vault, path: str, limit: int) -> tuple[bytes, bool]:
        if path.startswith("sea/"):
            gate.wait(60)
        return read(self, path, limit)

    monkeypatch.setattr(Vault, "_read", hanging)
    monkeypatch.setattr(Vault.read, "__defaults__", (Vault.read.__defaults__[0], 0.2))  # type: ignore[index]
    house.write("sea/tide.md", "the sun pulls too\n")
    house.write("sea/new.md", "never read so far\n")
    house.write("quipu.md", "knots on coloured cords\n")
    try:
        report = house.whole()
        assert report.complete
        assert {p.code for p in report.problems} == {"read_timeout"}
        assert found(house.settings, "coloured", limit=1) == ["quipu.md"]
        assert "sea/tide.md" in house.paths()  # as it was
        counts = house.index.counts()
        assert (counts.notes, counts.unreadable_missing) == (4, 1)
    finally:
        gate.set()
    while house.index.vault._patience.hanging:
        time.sleep(0.01)
    assert house.run("sea").problems == ()
    assert found(house.settings, "never read", limit=1) == ["sea/new.md"]
    assert house.index.problems() == []


@pytest.mark.parametrize("named", [(), ("sea",), ("sea/tide.md", "quipu.md")])
def test_a_folder_that_does_not_answer_keeps_its_notes_and_holds_up_nothing(
    house: Living, monkeypatch: pytest.MonkeyPatch, named: tuple[str, ...]
) -> None:
    gate = threading.Event()
    for name in ("scandir", "stat"):
        monkeypatch.setattr(os, name, _hanging_in("sea", getattr(os, name), gate))
    monkeypatch.setattr("khiip_indexer.disk.walk.LOOK_SECONDS", 0.2)
    house.write("quipu.md", "knots on coloured cords\n")
    try:
        report = house.run(*named) if named else house.whole()
        assert (report.complete, report.removed) == (True, 0)
        assert house.paths() == set(NOTES)
        told = {(p.path, p.code) for p in house.index.problems()}
        assert told <= {("sea", "folder_timeout"), ("sea/tide.md", "read_timeout")}
        assert told
        whale = house.index.capture_at("sea/deep/whale.md")
        if not named and whale:
            assert house.index.freshness(whale) == "changed"  # without asking the disk
        if named != ("sea",):
            assert found(house.settings, "coloured", limit=1) == ["quipu.md"]
    finally:
        gate.set()
    while house.index.vault._looking.hanging:
        time.sleep(0.01)
    house.write("sea/tide.md", "the sun pulls too\n")
    house.whole()
    assert found(house.settings, "sun", limit=1) == ["sea/tide.md"]
    assert house.index.problems() == []


def _hanging_in(folder: str, look: Callable[..., Any], gate: threading.Event) -> Callable[..., Any]:
    def hanging(path: Any = ".", *rest: Any, **more: Any) -> Any:
        inside = str(path).partition("/vault/")[2]
        if inside == folder or inside.startswith(f"{folder}/"):
            gate.wait(60)
        return look(path, *rest, **more)

    return hanging


def test_offline_notes_are_kept_and_counted(house: Living) -> None:
    vault = house.settings.vault
    (vault / "quipu.md").rename(vault / ".quipu.md.icloud")
    (vault / ".never seen.md.icloud").touch()
    assert house.run("quipu.md", "never seen.md").removed == 0
    counts = house.index.counts()
    assert (counts.notes, counts.offline, counts.offline_missing) == (4, 2, 1)
    house.whole()
    assert house.index.counts().offline == 2
    (vault / ".quipu.md.icloud").rename(vault / "quipu.md")
    (vault / ".never seen.md.icloud").unlink()
    house.run("quipu.md", "never seen.md")
    assert house.index.counts().offline == 0
    assert house.embedder.texts == []


def test_a_file_that_could_not_be_indexed_and_went_away_is_no_problem_any_more(
    house: Living, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(self: Vault, path: str, limit: int) -> tuple[bytes, bool]:
        raise VaultError("The note cannot be read.", code="note_unreadable")

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "_read", refusing)
        house.write("locked.md", "x\n")
        assert house.run("locked.md").with_problems == 1
    (house.settings.vault / "locked.md").unlink()
    assert house.run("locked.md").with_problems == 0


def test_many_notes_that_cannot_be_looked_at_are_told_from_gone_ones_in_one_go() -> None:
    paths = [f"closed/{number}.md" for number in range(20_000)]
    problems = tuple(Problem(path, "note_unreadable", "no") for path in paths)
    scan = Scan({}, (*problems, Problem("f", "folder_timeout", "no")), frozenset({"c.md"}), 0)
    asked = [*paths, "f/g/h.md", "c.md", "fg.md", "closed/x.md", "closed/1.md/y.md"]
    assert scan.gone(asked) == ("fg.md", "closed/x.md")
