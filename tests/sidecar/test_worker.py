"""The indexing thread: one run at a time, failures kept and shown."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from houses import House, open_house
from khiip_indexer.errors import Busy, DeletionBrake, KhiipError, ModelError, VaultError
from khiip_indexer.records import Progress, SyncReport
from khiip_indexer.vault import Vault
from khiip_sidecar.worker import IndexWorker, leave
from support import wait_until

NOTES = {"a.md": "one note\n", "b.md": "another note\n"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "vault", NOTES, indexed=False) as opened:
        yield opened
        assert opened.worker.stop(5)


def at_rest(worker: IndexWorker) -> bool:
    return worker.state().last_report is not None or worker.state().error is not None


def test_starting_loads_the_model_and_catches_up(house: House) -> None:
    house.worker.start()
    wait_until(lambda: at_rest(house.worker))
    state = house.worker.state()
    assert (state.state, state.error, state.phase) == ("ready", None, None)
    assert state.last_report is not None
    assert state.last_report.added == 2
    assert house.operations.index_state()["last_report"]["added"] == 2


def test_a_missing_model_is_kept_as_the_reason_and_the_service_goes_on(house: House) -> None:
    house.embedder.missing = True
    house.worker.start()
    wait_until(lambda: at_rest(house.worker) and house.worker.state().state == "ready")
    health = house.operations.health()
    assert health["status"] == "degraded"
    assert "model not found" in health["reason"]
    house.embedder.missing = False
    wait_until(lambda: _asked(house.worker))
    wait_until(lambda: house.worker.state().last_report is not None)
    assert house.operations.health()["status"] == "ok"


def _asked(worker: IndexWorker) -> bool:
    try:
        worker.ask()
    except Busy:
        return False
    return True


class HeldSyncer:
    """Stands at its first step until it is let go; what it does then is up to the test."""

    def __init__(self, outcome: Exception | None = None) -> None:
        self.entered = threading.Event()
        self.go_on = threading.Event()
        self.outcome = outcome
        self.asked_for: list[tuple[bool, bool]] = []

    def run(
        self,
        *,
        full: bool,
        accept_deletions: bool,
        paths: Collection[str] | None,
        progress: Callable[[Progress], None],
        noticed: Callable[[], Collection[str]],
    ) -> SyncReport:
        self.asked_for.append((full, accept_deletions))
        progress(Progress("read", 0, 100))
        progress(Progress("read", 25, 100, "a.md"))
        self.entered.set()
        self.go_on.wait(5)
        if self.outcome is not None:
            raise self.outcome
        return SyncReport(seen=100)

    def stop(self) -> None:
        self.go_on.set()

    def refetch(self, path: str) -> None: ...

    def stands(self) -> bool:
        return True


def held(outcome: Exception | None = None) -> tuple[HeldSyncer, IndexWorker]:
    ticks = iter(range(1000))
    syncer = HeldSyncer(outcome)
    worker = IndexWorker(syncer, lambda: None, clock=lambda: float(next(ticks)))  # type: ignore[arg-type]
    worker.start()
    assert syncer.entered.wait(5)
    return syncer, worker


def test_progress_can_be_read_while_a_run_goes_on() -> None:
    syncer, worker = held()
    state = worker.state()
    assert (state.state, state.phase, state.done, state.total) == ("indexing", "read", 25, 100)
    assert state.path == "a.md"
    assert (state.rate, state.seconds_left) == (25.0, 3.0)
    syncer.go_on.set()
    assert worker.stop(5)


def test_a_second_run_cannot_be_asked_for_while_one_goes_on() -> None:
    syncer, worker = held()
    with pytest.raises(Busy) as caught:
        worker.ask(full=True)
    assert caught.value.http_status == 409
    syncer.go_on.set()
    wait_until(lambda: _asked(worker))
    wait_until(lambda: len(syncer.asked_for) == 2)
    assert worker.stop(5)


def test_stopping_ends_a_run_that_goes_on() -> None:
    syncer, worker = held()
    assert worker.stop(5)
    assert syncer.go_on.is_set()


@pytest.mark.parametrize(
    ("outcome", "state", "sentence"),
    [
        (ModelError("model not found: x"), "ready", "model not found: x"),
        (DeletionBrake("all notes are gone"), "suspect", "all notes are gone"),
        (
            ZeroDivisionError("a secret of the vault"),
            "ready",
            "Indexing failed: ZeroDivisionError.",
        ),
    ],
)
def test_a_failed_run_is_shown_and_does_not_end_the_thread(
    outcome: Exception, state: str, sentence: str
) -> None:
    syncer, worker = held(outcome)
    syncer.go_on.set()
    wait_until(lambda: worker.state().error is not None)
    assert (worker.state().state, worker.state().error) == (state, sentence)
    syncer.outcome = None
    wait_until(lambda: _asked(worker))
    wait_until(lambda: worker.state().last_report is not None)
    assert worker.state().error is None
    assert worker.stop(5)


def test_one_note_can_be_refetched_between_runs(house: House) -> None:
    house.sync()
    calls = house.embedder.calls
    house.write("a.md", "one note, longer\n")
    house.worker.refetch("a.md")
    assert house.embedder.calls == calls + 1


def test_refetching_a_note_that_is_not_there_is_an_error(house: House) -> None:
    with pytest.raises(KhiipError):
        house.worker.refetch("nowhere.md")


class Script:
    """A syncer that writes down what it is asked for, and stands still at each run."""

    def __init__(self) -> None:
        self.runs: list[frozenset[str] | None] = []
        self.go_on = threading.Semaphore(0)
        self.outcome: Exception | None = None
        self.progress = Progress("read", 0, 1)
        self.meanwhile: list[Collection[str]] = []

    def run(
        self,
        *,
        full: bool,
        accept_deletions: bool,
        paths: frozenset[str] | None,
        progress: Callable[[Progress], None],
        noticed: Callable[[], Collection[str]],
    ) -> SyncReport:
        self.runs.append(paths)
        progress(self.progress)
        assert self.go_on.acquire(timeout=10)
        self.meanwhile.append(noticed())
        if self.outcome is not None:
            raise self.outcome
        return SyncReport()

    def stop(self) -> None:
        self.go_on.release()

    def refetch(self, path: str) -> None: ...

    def stands(self) -> bool:
        return True


class Scripted:
    """A worker over a script, past its first sync."""

    def __init__(self) -> None:
        self.script = Script()
        self.warmed: list[int] = []
        self.ended: list[SyncReport | None] = []
        self.worker = IndexWorker(
            self.script,  # type: ignore[arg-type]
            lambda: self.warmed.append(1),
            reconciled=self.ended.append,
        )
        self.worker.start()
        self.let_go()

    def let_go(self) -> None:
        """End the run that is under way, and wait until nothing is left to do."""
        self.script.go_on.release()
        wait_until(lambda: not self.worker.waits())

    def wait_for_run(self, count: int) -> None:
        wait_until(lambda: len(self.script.runs) == count)


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    opened = Scripted()
    yield opened
    assert opened.worker.stop(5)


def test_what_is_noticed_is_synced_by_itself(scripted: Scripted) -> None:
    scripted.worker.notice(["a.md", "folder"])
    scripted.wait_for_run(2)
    assert scripted.script.runs[1] == frozenset({"a.md", "folder"})
    scripted.let_go()
    assert scripted.warmed == [1]  # the model is there already: no small edit waits for a look


def test_however_much_is_noticed_during_a_run_is_one_run_after_it(scripted: Scripted) -> None:
    scripted.worker.ask()
    scripted.wait_for_run(2)
    for number in range(100):
        scripted.worker.notice([f"{number}.md"])
    scripted.script.go_on.release()
    wait_until(lambda: len(scripted.script.meanwhile) == 2)
    assert len(scripted.script.meanwhile[1]) == 100
    wait_until(lambda: not scripted.worker.waits())
    assert len(scripted.script.runs) == 2


def test_a_run_takes_in_named_notes_and_leaves_the_whole_vault_for_its_end(
    scripted: Scripted,
) -> None:
    scripted.worker.ask()
    scripted.wait_for_run(2)
    scripted.worker.notice(None)
    scripted.worker.notice(["a.md"])
    scripted.script.go_on.release()
    scripted.wait_for_run(3)
    assert scripted.script.meanwhile[1] == frozenset({"a.md"})
    assert scripted.script.runs[2] is None
    scripted.let_go()


def test_a_person_may_ask_while_a_noticed_change_is_taken_in(scripted: Scripted) -> None:
    scripted.worker.notice(["a.md"])
    scripted.wait_for_run(2)
    scripted.worker.ask()
    assert scripted.worker.state().state == "indexing"
    with pytest.raises(Busy):
        scripted.worker.ask()
    scripted.script.go_on.release()
    scripted.wait_for_run(3)
    assert scripted.worker.state().state == "indexing"
    scripted.let_go()
    assert scripted.worker.state().state == "ready"


@pytest.mark.parametrize(("total", "state"), [(1, "ready"), (500, "indexing")])
def test_a_small_edit_does_not_show_as_indexing(scripted: Scripted, total: int, state: str) -> None:
    scripted.script.progress = Progress("read", 0, total)
    scripted.worker.notice(["a.md"])
    scripted.wait_for_run(2)
    wait_until(lambda: scripted.worker.state().state == state)
    scripted.let_go()
    assert scripted.worker.state().state == "ready"


def test_looks_at_the_whole_vault_and_failures_are_reported(scripted: Scripted) -> None:
    assert scripted.ended == [SyncReport()]
    scripted.worker.notice(["a.md"])
    scripted.let_go()
    assert len(scripted.ended) == 1
    scripted.script.outcome = KhiipError("The vault cannot be opened.")
    scripted.worker.notice(["a.md"])
    scripted.let_go()
    assert scripted.ended[1:] == [None]
    assert scripted.worker.state().error == "The vault cannot be opened."
    scripted.script.outcome = None
    scripted.worker.notice(None)
    scripted.let_go()
    assert scripted.ended[1:] == [None, SyncReport()]
    assert scripted.worker.state().error is None


LEAVING = """
import threading, time
from khiip_sidecar.worker import THREAD, leave

threading.Thread(target=time.sleep, args=(60,), name=THREAD).start()
print("stopped")
raise SystemExit(leave(5))
"""


def test_a_process_ends_with_its_code_although_indexing_still_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVING], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (5, "stopped\n", "")


def test_leaving_without_an_indexing_thread_only_gives_the_code() -> None:
    assert leave(3) == 3


def test_a_new_name_that_cannot_be_taken_in_is_tried_once_and_then_left(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.worker.start()
    wait_until(lambda: at_rest(house.worker) and not house.worker.waits())
    asked: list[Collection[str] | None] = []
    run = house.syncer.run

    def counting(**given: Any) -> SyncReport:
        asked.append(given["paths"])
        report: SyncReport = run(**given)
        if len(asked) == 1:
            monkeypatch.setattr(Vault, "_read", refusing)
        return report

    def refusing(*_: object) -> tuple[bytes, bool]:
        raise VaultError("The note cannot be read.", code="note_unreadable")

    monkeypatch.setattr(house.syncer, "run", counting)
    (house.settings.vault / "a.md").rename(house.settings.vault / "c.md")
    house.worker.notice({"a.md", "c.md"})
    wait_until(lambda: len(asked) == 2 and not house.worker.waits())
    time.sleep(0.1)
    assert asked == [{"a.md", "c.md"}, {"c.md"}]
    monkeypatch.undo()
    house.worker.notice(None)
    wait_until(lambda: not house.syncer.renamed() and not house.worker.waits())
