"""What the watcher asks for, and when; with an observer and a clock that the test moves."""

from __future__ import annotations

import errno
import logging
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from khiip_indexer.errors import VaultError
from khiip_indexer.records import SyncReport
from khiip_indexer.types import Problem
from khiip_indexer.vault import Vault
from khiip_indexer.watcher import (
    POLL_SECONDS,
    RECONCILE_SECONDS,
    SUPERVISE_SECONDS,
    Clock,
    Watcher,
)
from khiip_indexer.watching.debounce import MOST_PATHS
from khiip_indexer.watching.observers import Heard, Lost, Observer
from support import wait_until, write_note

WHOLE: frozenset[str] | None = None


class DoubleObserver:
    """Hears what the test says; dies and refuses when the test wants it."""

    def __init__(self, heard: Heard, lost: Lost, refusal: Exception | None) -> None:
        self.heard = heard
        self.lost = lost
        self.refusal = refusal
        self.alive = False
        self.added: list[str] = []

    def start(self) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.alive = True

    def add(self, folder: str) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.added.append(folder)

    def is_alive(self) -> bool:
        return self.alive

    def stop(self) -> None:
        self.alive = False


class Stage:
    """A watcher that moves only when the test says so."""

    def __init__(self, root: Path, refusal: Exception | None = None, own: Path | None = None):
        self.seconds = 1000.0
        self.day = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)
        self.refusal = refusal
        self.observers: list[DoubleObserver] = []
        self.asked: list[frozenset[str] | None] = []
        clock = Clock(lambda: self.seconds, lambda: self.day)
        self.watcher = Watcher(Vault(root), self._ask, own=own, observe=self._observe, clock=clock)
        self.watcher.begin()
        assert self.take() == [WHOLE]

    def _ask(self, paths: Collection[str] | None) -> None:
        self.asked.append(None if paths is None else frozenset(paths))

    def _observe(self, vault: Vault, heard: Heard, lost: Lost) -> Observer:
        self.observers.append(DoubleObserver(heard, lost, self.refusal))
        return self.observers[-1]

    @property
    def observer(self) -> DoubleObserver:
        return self.observers[-1]

    def hear(self, *paths: str, folder: bool = False) -> None:
        for path in paths:
            self.observer.heard(path, folder)

    def pass_time(self, seconds: float, *, asleep: bool = False) -> None:
        """Turn as often as the watcher's own thread would."""
        self.watcher.turn()  # whatever was heard has woken it
        end = self.seconds + seconds
        while self.seconds < end and not asleep:
            step = min(end - self.seconds, max(0.01, self.watcher.seconds_to_wait()))
            self.seconds += step
            self.day += timedelta(seconds=step)
            self.watcher.turn()
        if asleep:  # the day goes on, the clock of the machine does not
            self.day += timedelta(seconds=seconds)
            self.watcher.turn()

    def take(self) -> list[frozenset[str] | None]:
        asked, self.asked = self.asked, []
        return asked

    def reconciled(self, **found: int) -> None:
        self.watcher.reconciled(SyncReport(**found))  # type: ignore[arg-type]
        self.watcher.turn()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    vault = tmp_path / "vault"
    write_note(vault, "a.md", "a\n")
    write_note(vault, "folder/b.md", "b\n")
    (vault / ".obsidian").mkdir()
    return vault


@pytest.fixture
def stage(root: Path) -> Stage:
    return Stage(root)


def test_an_event_is_asked_for_once_it_is_quiet(stage: Stage) -> None:
    stage.hear("a.md", "a.md", "folder/b.md")
    stage.watcher.turn()
    assert stage.take() == []
    stage.pass_time(1)
    assert stage.take() == [frozenset({"a.md", "folder/b.md"})]
    assert stage.watcher.state().last_event_at == "2026-06-30T12:00:00Z"
    stage.pass_time(5)
    assert stage.take() == []


@pytest.mark.parametrize(
    "path",
    [".git/index", ".khiip/cache.sqlite-wal", ".note.md.tmp", "folder/.b.md.swp", "image.png",
     "folder/node_modules/x.md", ".trash/a.md", "folder/.hidden/x.md"],
)  # fmt: skip
def test_what_is_no_note_wakes_nothing(stage: Stage, path: str) -> None:
    stage.hear(path)
    stage.hear(path.rpartition("/")[0] or ".git", folder=True) if path.startswith(".") else None
    stage.pass_time(5)
    assert stage.take() == []
    assert stage.watcher.state().last_event_at is None


def test_where_the_index_lives_is_never_an_event(root: Path) -> None:
    stage = Stage(root, own=root / "my index")
    stage.hear("my index/cache.md", "my index")
    stage.hear("my index", folder=True)
    stage.hear("my index too/a.md")
    stage.pass_time(1)
    assert stage.take() == [frozenset({"my index too/a.md"})]


def test_a_placeholder_stands_for_its_note(stage: Stage) -> None:
    stage.hear(".a.md.icloud", "folder/.b.md.icloud")
    stage.pass_time(1)
    assert stage.take() == [frozenset({"a.md", "folder/b.md"})]


def test_a_folder_that_appears_is_watched_too(stage: Stage) -> None:
    stage.hear("new", folder=True)
    stage.pass_time(1)
    assert stage.observer.added == ["new"]
    assert stage.take() == [frozenset({"new"})]


def test_new_rules_are_asked_for_as_a_whole_and_watched_by(stage: Stage, root: Path) -> None:
    (root / ".obsidian/app.json").write_text('{"userIgnoreFilters": ["folder/"]}')
    stage.pass_time(SUPERVISE_SECONDS)
    assert stage.take() == [WHOLE]
    assert len(stage.observers) == 2
    assert stage.watcher.state().restarts == 0
    stage.hear("folder/b.md")
    stage.hear(".khiipignore")
    stage.pass_time(1)
    assert WHOLE in stage.take()


@pytest.mark.parametrize("rules", [".khiipignore", ".obsidian/app.json"])
def test_rules_that_are_heard_to_change_count_at_once(stage: Stage, rules: str) -> None:
    stage.hear(rules)
    stage.pass_time(1)
    assert stage.take() == [WHOLE]
    stage.hear(".obsidian/workspace.json")
    stage.pass_time(1)
    assert stage.take() == []


def test_a_burst_of_very_many_is_named_by_folders_or_as_the_whole(stage: Stage) -> None:
    stage.hear(*(f"folder/{number}.md" for number in range(MOST_PATHS + 1)))
    stage.pass_time(1)
    assert stage.take() == [frozenset({"folder"})]
    stage.hear(*(f"{number}/n.md" for number in range(MOST_PATHS + 1)))
    stage.pass_time(1)
    assert stage.take() == [WHOLE]


def test_a_dead_observer_is_replaced_within_ten_seconds_and_everything_looked_at(
    stage: Stage,
) -> None:
    stage.observer.alive = False
    stage.pass_time(10)
    assert stage.take() == [WHOLE]
    assert stage.observer.alive
    assert (stage.watcher.state().mode, stage.watcher.state().restarts) == ("watching", 1)
    stage.hear("a.md")
    stage.pass_time(1)
    assert stage.take() == [frozenset({"a.md"})]


def test_lost_events_begin_it_anew_at_once(stage: Stage) -> None:
    stage.observer.lost()
    stage.watcher.turn()
    assert stage.take() == [WHOLE]
    assert stage.watcher.state().restarts == 1
    assert not stage.observers[0].alive


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (errno.ENOSPC, "fs.inotify.max_user_watches"),
        (errno.EMFILE, "fs.inotify.max_user_instances"),
    ],
)
def test_a_limit_of_the_system_means_polling_and_one_line_that_names_it(
    root: Path, number: int, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        stage = Stage(root, OSError(number, "inotify watch limit reached"))
    state = stage.watcher.state()
    assert (state.mode, state.reason) == ("polling", "inotify_limit")
    assert [name in record.getMessage() for record in caplog.records] == [True]
    stage.pass_time(3 * POLL_SECONDS + 1)
    assert stage.take() == [WHOLE] * 3


def test_watching_begins_when_the_limit_was_raised(root: Path) -> None:
    stage = Stage(root, OSError(errno.ENOSPC, "inotify watch limit reached"))
    stage.refusal = None
    stage.pass_time(RECONCILE_SECONDS)
    assert (stage.watcher.state().mode, stage.watcher.state().reason) == ("watching", None)
    stage.take()
    stage.pass_time(5 * POLL_SECONDS)
    assert stage.take() == []


def test_a_limit_that_a_new_folder_meets_means_polling(stage: Stage) -> None:
    stage.observer.refusal = OSError(errno.ENOSPC, "inotify watch limit reached")
    stage.hear("new", folder=True)
    stage.pass_time(1)
    assert stage.watcher.state().reason == "inotify_limit"
    assert not stage.observers[0].alive


def test_any_other_refusal_is_survived(root: Path) -> None:
    stage = Stage(root, VaultError("The vault cannot be opened."))
    assert stage.watcher.state().reason == "unavailable"
    stage.pass_time(POLL_SECONDS + 1)
    assert stage.take() == [WHOLE]


def test_everything_is_looked_at_every_ten_minutes(stage: Stage) -> None:
    stage.pass_time(3 * RECONCILE_SECONDS)
    assert stage.take() == [WHOLE] * 3


def test_everything_is_looked_at_after_a_sleep(stage: Stage) -> None:
    stage.pass_time(55)
    assert stage.take() == []
    stage.pass_time(3600, asleep=True)
    assert stage.take() == [WHOLE]
    stage.pass_time(60)
    assert stage.take() == []


def reconcile(stage: Stage, **found: int) -> None:
    stage.pass_time(RECONCILE_SECONDS)
    stage.take()
    stage.reconciled(**found)


def test_changes_without_events_twice_mean_polling(stage: Stage) -> None:
    reconcile(stage, changed=1)
    assert stage.watcher.state().mode == "watching"
    reconcile(stage, added=2)
    state = stage.watcher.state()
    assert (state.mode, state.reason) == ("polling", "no_events")
    stage.pass_time(POLL_SECONDS + 1)
    assert stage.take() == [WHOLE]
    stage.observer.alive = False
    stage.pass_time(SUPERVISE_SECONDS)
    assert stage.watcher.state().reason == "no_events"


def test_an_edit_at_the_moment_of_the_look_is_no_missed_event(stage: Stage) -> None:
    for _ in range(4):
        stage.pass_time(RECONCILE_SECONDS - 1)
        stage.hear("a.md")
        stage.pass_time(2)
        stage.reconciled(changed=1)
    assert stage.watcher.state().mode == "watching"


def test_a_look_that_was_not_due_tells_nothing_of_missed_events(stage: Stage) -> None:
    for _ in range(4):
        stage.pass_time(100)
        stage.reconciled(changed=3)
    assert stage.watcher.state().mode == "watching"


def test_notes_that_can_never_be_read_are_no_missed_events(stage: Stage) -> None:
    problem = Problem("locked.md", "note_unreadable", "may not be read")
    for _ in range(4):
        stage.pass_time(RECONCILE_SECONDS)
        stage.watcher.reconciled(SyncReport(changed=1, problems=(problem,)))
        stage.watcher.turn()
    assert stage.watcher.state().mode == "watching"


def test_two_misses_hours_apart_are_chance(stage: Stage) -> None:
    reconcile(stage, changed=1)
    stage.pass_time(12 * RECONCILE_SECONDS)
    reconcile(stage, changed=1)
    assert stage.watcher.state().mode == "watching"


def test_what_failed_is_tried_again_sooner_and_ever_later(stage: Stage) -> None:
    waits = []
    for _ in range(8):
        stage.watcher.reconciled(None)
        stage.watcher.turn()
        began = stage.seconds
        while not stage.take():
            stage.pass_time(1)
        waits.append(round(stage.seconds - began))
    assert waits[:4] == [30, 60, 120, 240]
    assert max(waits) <= RECONCILE_SECONDS


def test_in_its_thread_it_hears_real_changes_and_ends(root: Path) -> None:
    asked: list[frozenset[str] | None] = []

    def ask(paths: Collection[str] | None) -> None:
        asked.append(None if paths is None else frozenset(paths))

    watcher = Watcher(Vault(root), ask)
    watcher.start()
    wait_until(lambda: watcher.state().mode == "watching")
    write_note(root, "new/deep/c.md", "c\n")
    wait_until(lambda: any(paths is not None and "new" in paths for paths in asked))
    write_note(root, "new/deep/d.md", "d\n")
    wait_until(lambda: any(paths is not None and "new/deep/d.md" in paths for paths in asked))
    assert watcher.stop(10)


def test_its_thread_outlives_an_exception(root: Path) -> None:
    asked: list[frozenset[str] | None] = []

    def ask(paths: Collection[str] | None) -> None:
        asked.append(None if paths is None else frozenset(paths))
        if len(asked) == 2:
            raise RuntimeError("the first thing that is asked for fails")

    watcher = Watcher(Vault(root), ask)
    watcher.start()
    wait_until(lambda: watcher.state().mode == "watching" and asked == [None])
    write_note(root, "a.md", "edited\n")
    wait_until(lambda: len(asked) == 3)
    assert asked[2] is None  # what was lost is looked for
    write_note(root, "a.md", "edited again\n")
    wait_until(lambda: asked[-1] == frozenset({"a.md"}) and len(asked) > 3)
    assert watcher.stop(10)


def test_a_drive_that_did_not_answer_is_looked_at_again_soon_and_watched_once_it_does(
    root: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = stage.watcher._vault
    monkeypatch.setattr(vault, "_unseen", (Problem("folder", "folder_timeout", "silent"),))
    monkeypatch.setattr(vault, "_silent", frozenset({"folder"}))
    stage.reconciled()
    assert stage.observer.added == []
    stage.pass_time(POLL_SECONDS + 1)
    assert stage.take() == [WHOLE]
    assert stage.observer.added == ["folder"]
    monkeypatch.undo()
    stage.reconciled()
    stage.pass_time(RECONCILE_SECONDS - 10)
    assert stage.take() == []


def test_a_step_of_git_without_a_note_s_event_has_the_whole_vault_looked_at(
    root: Path, stage: Stage
) -> None:
    write_note(root, ".git/HEAD", "ref: refs/heads/main\n")
    stage.pass_time(SUPERVISE_SECONDS + 1)
    assert stage.take() == [WHOLE]
    stage.pass_time(SUPERVISE_SECONDS * 3)
    assert stage.take() == []
    write_note(root, ".git/HEAD", "ref: refs/heads/other\n")
    stage.pass_time(SUPERVISE_SECONDS + 1)
    assert stage.take() == [WHOLE]
    (root / ".git/HEAD").unlink()
    stage.pass_time(SUPERVISE_SECONDS * 3)
    assert stage.take() == []
