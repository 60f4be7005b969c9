"""`serve` follows its vault: real files, real events, a real socket; only the model is a double."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from equality import assert_equals_fresh
from khiip_indexer.config import Settings
from khiip_indexer.vault import Vault
from serving import Served, serving
from support import FakeEmbedder, make_vault, write_note

NOTES = {
    "quipu.md": "# Quipu\n\nknots on cords\n",
    "sea/tide.md": "# Tide\n\nthe moon pulls the sea\n",
    "sea/deep/whale.md": "# Whale\n\nwhales sing\n",
}


class Live:
    """A vault that is served, and what its embedder is given."""

    def __init__(self, served: Served, embedder: FakeEmbedder) -> None:
        self.served = served
        self.embedder = embedder
        self.vault = served.settings.vault

    def write(self, path: str, text: str) -> None:
        write_note(self.vault, path, text)

    def health(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.served.ask("/health")[1]
        return answer

    def paths(self) -> set[str]:
        rows = self.served.ask("/api/v1/captures?limit=1000&view=lean")[1]
        return {row["vault_path"] for row in rows}

    def first(self, query: str) -> dict[str, Any]:
        answer = self.served.ask(f"/api/v1/recall?view=lean&limit=1&q={query.replace(' ', '+')}")[1]
        rows: list[dict[str, Any]] = answer.get("results") or [{}]
        return rows[0]

    def finds(self, query: str, path: str) -> bool:
        """Whether the note is first by meaning, as it is now."""
        row = self.first(query)
        return row.get("vault_path") == path and row["score"] > 0.2

    def wait(self, true: Callable[[], bool], seconds: float = 20) -> None:
        for _ in range(int(seconds * 50)):
            if true():
                return
            time.sleep(0.02)
        pytest.fail(f"it did not come true: {self.health()}")

    def settle(self) -> None:
        """Until nothing runs, waits or is on its way."""
        quiet = 0
        while quiet < 4:
            busy = self.served.daemon._worker.waits()
            busy = busy or self.served.daemon._watcher._debounce.due_at() is not None
            quiet = 0 if busy else quiet + 1
            time.sleep(0.05)


@contextmanager
def live(settings: Settings) -> Iterator[Live]:
    embedder = FakeEmbedder()
    with serving(settings, embedder) as served:
        opened = Live(served, embedder)
        served.wait_until_ready()
        opened.wait(lambda: opened.health()["index"]["watcher"] != "off")
        opened.settle()
        embedder.texts.clear()
        yield opened
        opened.settle()
    assert_equals_fresh(settings, FakeEmbedder())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_vault(tmp_path / "vault", NOTES)


@pytest.fixture
def house(settings: Settings) -> Iterator[Live]:
    with live(settings) as opened:
        yield opened


def test_an_edit_a_new_note_and_a_deletion_are_found_by_themselves(house: Live) -> None:
    house.write("quipu.md", "# Quipu\n\nabacus beads\n")
    house.wait(lambda: house.finds("abacus beads", "quipu.md"))
    house.write("sea/new/reef.md", "# Reef\n\ncorals build\n")
    house.wait(lambda: house.finds("corals build", "sea/new/reef.md"))
    (house.vault / "sea/tide.md").unlink()
    house.wait(lambda: house.health()["index"]["notes"] == 3)
    health = house.health()
    assert (health["status"], health["index"]["watcher"]) == ("ok", "watching")
    assert health["index"]["last_event_at"]
    assert health["index"]["watcher_restarts"] == 0


def test_a_note_is_embedded_once_and_no_other_note_is_read(
    house: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: set[str] = set()
    read = Vault._read

    def counting(self: Vault, path: str, limit: int) -> tuple[bytes, bool]:
        opened.add(path)
        return read(self, path, limit)

    monkeypatch.setattr(Vault, "_read", counting)
    house.write("quipu.md", "# Quipu\n\nabacus beads\n")
    house.wait(lambda: house.health()["index"]["last_event_at"] is not None)
    house.settle()
    assert len([text for text in house.embedder.texts if "abacus" in text]) == 1
    assert len(house.embedder.texts) == 1
    assert opened == {"quipu.md"}


def test_a_save_by_a_temporary_file_and_a_rename_away(house: Live) -> None:
    write_note(house.vault, ".quipu.md.tmp123", "# Quipu\n\nabacus beads\n")
    os.replace(house.vault / ".quipu.md.tmp123", house.vault / "quipu.md")  # noqa: PTH105
    house.wait(lambda: house.finds("abacus beads", "quipu.md"))
    assert house.paths() == set(NOTES)
    (house.vault / "quipu.md").rename(house.vault / "quipu.txt")
    house.wait(lambda: house.paths() == set(NOTES) - {"quipu.md"})


def test_renames_and_folder_moves_embed_nothing(house: Live) -> None:
    (house.vault / "quipu.md").rename(house.vault / "knots.md")
    house.wait(lambda: "knots.md" in house.paths())
    (house.vault / "sea").rename(house.vault / "ocean")
    house.wait(lambda: "ocean/deep/whale.md" in house.paths())
    (house.vault / "ocean/deep").rename(house.vault / "abyss")
    house.wait(lambda: house.paths() == {"knots.md", "ocean/tide.md", "abyss/whale.md"})
    assert house.embedder.texts == []
    house.write("abyss/whale.md", "# Whale\n\nsquids hide\n")
    house.wait(lambda: house.finds("squids hide", "abyss/whale.md"))


def test_the_meaning_of_a_new_name_follows_by_itself_where_the_name_is_the_title(
    house: Live,
) -> None:
    house.write("Untitled.md", "cords of many colours\n")
    house.wait(lambda: house.finds("cords of many colours", "Untitled.md"))
    house.settle()
    house.embedder.texts.clear()
    (house.vault / "Untitled.md").rename(house.vault / "Abacus.md")
    (house.vault / "quipu.md").rename(house.vault / "Sextant.md")
    house.wait(lambda: house.first("abacus").get("vault_path") == "Abacus.md")
    house.settle()
    assert len([text for text in house.embedder.texts if "Abacus" in text]) == 1
    assert not [text for text in house.embedder.texts if "Sextant" in text or "knots" in text]
    assert house.served.ask("/api/v1/index")[1]["state"] == "ready"


def test_what_the_index_writes_wakes_nothing(house: Live) -> None:
    before = house.health()["index"]
    for query in ("knots", "moon", "whales"):
        house.first(query)
    state = house.served.settings.state
    (state / "scratch.md").write_text("not a note\n")
    time.sleep(0.5)
    house.settle()
    after = house.health()["index"]
    assert after["last_event_at"] is None
    assert after["generation"] == before["generation"]


def test_bytes_and_times_of_notes_stay_as_they_were(house: Live) -> None:
    def stamps() -> dict[str, tuple[bytes, int]]:
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in house.vault.rglob("*.md")
        }

    before = stamps()
    house.served.ask("/api/v1/index", "POST")
    house.first("knots")
    house.settle()
    assert stamps() == before


def test_a_burst_of_many_files_is_taken_in_with_nothing_embedded_twice(house: Live) -> None:
    for number in range(600):
        write_note(
            house.vault, f"burst/{number % 20}/n{number}.md", f"# N{number}\n\nunit{number}\n"
        )
    house.wait(lambda: house.health()["index"]["searchable_by_meaning"] == 603)
    house.settle()
    assert len(house.embedder.texts) == len(set(house.embedder.texts)) == 600
    shutil.rmtree(house.vault / "burst/3")
    house.wait(lambda: house.health()["index"]["notes"] == 573)


def test_an_exhausted_limit_is_survived_and_said(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object) -> Any:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr("khiip_indexer.watching.observers.FolderObserver.start", refusing)
    monkeypatch.setattr("khiip_indexer.watching.observers.TreeObserver.start", refusing)
    monkeypatch.setattr("khiip_indexer.watcher.POLL_SECONDS", 0.2)
    with live(settings) as house:
        health = house.health()
        assert health["index"]["watcher"] == "polling"
        assert health["index"]["reason"] == "inotify_limit"
        assert health["status"] == "degraded"
        assert "limit of watched folders" in health["reason"]
        house.write("quipu.md", "# Quipu\n\nabacus beads\n")
        house.wait(lambda: house.finds("abacus beads", "quipu.md"))


def test_a_dead_observer_is_replaced_and_what_it_missed_is_found(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_indexer.watcher.SUPERVISE_SECONDS", 0.2)
    with live(settings) as house:
        observer = house.served.daemon._watcher._observer
        assert observer is not None
        observer.stop()
        house.write("quipu.md", "# Quipu\n\nabacus beads\n")
        house.wait(lambda: house.finds("abacus beads", "quipu.md"))
        assert house.health()["index"]["watcher_restarts"] == 1
        house.write("quipu.md", "# Quipu\n\nslide rules\n")
        house.wait(lambda: house.finds("slide rules", "quipu.md"))


def test_a_deaf_observer_costs_freshness_only(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_indexer.watcher.RECONCILE_SECONDS", 0.5)
    monkeypatch.setattr("khiip_indexer.watcher.POLL_SECONDS", 0.2)
    monkeypatch.setattr("khiip_indexer.watcher.Watcher._on_event", lambda *_: None)
    with live(settings) as house:
        for word in ("abacus", "sextant", "astrolabe"):
            house.write("quipu.md", f"# Quipu\n\n{word} here\n")
            house.wait(lambda word=word: house.finds(f"{word} here", "quipu.md"))  # type: ignore[misc]
        house.wait(lambda: house.health()["index"]["reason"] == "no_events")


def test_a_vault_that_is_gone_and_comes_back_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("khiip_indexer.watcher.RECONCILE_SECONDS", 0.5)
    notes = {f"f{number % 3}/{number}.md": f"# N{number}\n\nword{number}\n" for number in range(60)}
    with live(make_vault(tmp_path / "vault", notes)) as house:
        away = tmp_path / "away"
        away.mkdir()
        for name in ("f0", "f1", "f2"):
            (house.vault / name).rename(away / name)
        house.wait(lambda: house.health()["state"] == "suspect")
        health = house.health()
        assert health["status"] == "degraded"
        assert "gone from the vault" in health["reason"]
        assert health["index"]["notes"] == 60
        for name in ("f0", "f1", "f2"):
            (away / name).rename(house.vault / name)
        house.wait(lambda: house.health()["status"] == "ok")
        assert house.health()["index"]["notes"] == 60
        assert [text for text in house.embedder.texts if text != "warm"] == []


def test_answers_come_while_reads_hang(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    read = Vault._read

    def hanging(self: Vault, path: str, limit: int) -> tuple[bytes, bool]:
        if path.startswith("cloud/"):
            gate.wait(60)
        return read(self, path, limit)

    monkeypatch.setattr(Vault, "_read", hanging)
    monkeypatch.setattr("khiip_indexer.watcher.RECONCILE_SECONDS", 1.0)
    with live(settings) as house:
        for number in range(8):
            house.write(f"cloud/{number}.md", f"# N{number}\n\nword{number}\n")
        house.write("quipu.md", "# Quipu\n\nabacus beads\n")
        house.wait(lambda: house.served.daemon.index.vault._patience.hanging > 0)
        for path in ("/health", "/api/v1/recall?q=moon&view=lean", "/api/v1/index"):
            began = time.monotonic()
            assert house.served.ask(path)[0] == 200
            assert time.monotonic() - began < 1
        house.wait(lambda: house.served.ask("/api/v1/index")[1]["coverage"]["unreadable"] == 8)
        assert house.finds("abacus beads", "quipu.md")
        gate.set()
        house.wait(lambda: house.health()["index"]["notes"] == 11)
        assert house.served.ask("/api/v1/index")[1]["coverage"]["unreadable"] == 0


def test_it_stops_in_time_while_reads_hang(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, entered = threading.Event(), threading.Event()

    def hanging(*_: object) -> tuple[bytes, bool]:
        entered.set()
        gate.wait(60)
        return b"", False

    monkeypatch.setattr(Vault, "_read", hanging)
    with serving(settings) as served:
        assert entered.wait(10)
        began = time.monotonic()
        served.daemon.stop()
    assert time.monotonic() - began < 3
    gate.set()


class SlowEmbedder(FakeEmbedder):
    """Takes its time for notes, none for queries."""

    def embed(self, texts: Any) -> Any:
        if len(texts) > 1:
            time.sleep(0.05)
        return super().embed(texts)


def test_an_edit_during_a_long_first_index_is_found_before_its_end(tmp_path: Path) -> None:
    notes = {f"n{number}.md": f"# N{number}\n\nword{number}\n" for number in range(1500)}
    settings = make_vault(tmp_path / "vault", notes)
    with serving(settings, SlowEmbedder()) as served:
        house = Live(served, FakeEmbedder())
        house.wait(lambda: house.served.ask("/api/v1/index")[1]["phase"] == "first_vectors")
        house.write("urgent.md", "# Urgent\n\nfire in the library\n")
        house.wait(lambda: house.finds("fire in the library", "urgent.md"))
        answer = served.ask("/api/v1/recall?q=fire+in+the+library&view=lean&limit=1")[1]
        assert answer["degraded"] == "indexing"
        assert served.ask("/api/v1/index")[1]["coverage"]["pending"] > 0
        house.settle()
        coverage = served.ask("/api/v1/index")[1]["coverage"]
        assert (coverage["searchable_by_meaning"], coverage["pending"]) == (1501, 0)
    assert_equals_fresh(settings, FakeEmbedder())


def test_answers_come_while_the_model_warms_up(settings: Settings) -> None:
    with live(settings):
        pass
    warm = threading.Event()

    class ColdEmbedder(FakeEmbedder):
        def embed(self, texts: Any) -> Any:
            if list(texts) == ["warm"]:
                warm.wait(30)
            return super().embed(texts)

    with serving(settings, ColdEmbedder()) as served:
        began = time.monotonic()
        health = served.ask("/health")[1]
        answer = served.ask("/api/v1/recall?q=moon+pulls&view=lean&limit=1")[1]
        assert time.monotonic() - began < 1
        assert health["state"] == "warming"
        assert answer["results"][0]["vault_path"] == "sea/tide.md"
        assert answer["degraded"] == "warming"
        warm.set()
        served.wait_until_ready()


def git(vault: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.example", "-C", vault, *arguments],
        check=True,
        capture_output=True,
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_switching_branches_there_and_back_embeds_nothing_on_the_way_back(
    settings: Settings,
) -> None:
    vault = settings.vault
    git(vault, "init", "-q", "-b", "main")
    git(vault, "add", ".")
    git(vault, "commit", "-q", "-m", "first")
    git(vault, "checkout", "-q", "-b", "other")
    for number in range(120):
        write_note(vault, f"branch/n{number}.md", f"# N{number}\n\nword{number}\n")
    (vault / "quipu.md").write_text("# Quipu\n\nabacus beads\n")
    git(vault, "add", ".")
    git(vault, "commit", "-q", "-m", "second")
    git(vault, "checkout", "-q", "main")
    with live(settings) as house:
        assert house.health()["index"]["notes"] == 3
        git(vault, "checkout", "-q", "other")
        house.wait(lambda: house.health()["index"]["searchable_by_meaning"] == 123)
        house.settle()
        assert len(house.embedder.texts) == len(set(house.embedder.texts))
        house.embedder.texts.clear()
        git(vault, "checkout", "-q", "main")
        # More than half of the notes go with the branch, and git says so: nobody is asked.
        house.wait(lambda: house.health()["index"]["notes"] == 3)
        house.settle()
        assert house.health()["state"] == "ready"
        git(vault, "checkout", "-q", "other")
        house.wait(lambda: house.health()["index"]["searchable_by_meaning"] == 123)
        house.settle()
        assert [text for text in house.embedder.texts if text != "warm"] == []
