"""The indexing thread: one run at a time, failures kept and shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from houses import House, open_house
from khiip_indexer.errors import Busy, DeletionBrake, KhiipError, ModelError
from khiip_indexer.records import Progress, SyncReport
from khiip_sidecar.worker import IndexWorker

NOTES = {"a.md": "one note\n", "b.md": "another note\n"}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "vault", NOTES, indexed=False) as opened:
        yield opened
        assert opened.worker.stop(5)


def wait_until(true: Callable[[], bool]) -> None:
    for _ in range(500):
        if true():
            return
        time.sleep(0.01)
    pytest.fail("it did not come true within five seconds")


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
