"""A reindex that the running sidecar does for the command line."""

from __future__ import annotations

from typing import Any

import pytest

from khiip_indexer.errors import DeletionBrake, StorageError
from khiip_indexer.records import Progress, SyncReport
from khiip_indexer.types import Problem
from khiip_sidecar.cli.follow import read_report, reindex_by_sidecar
from khiip_sidecar.client import error_from
from khiip_sidecar.wire.views import report_view

REPORT = SyncReport(
    seen=3,
    added=2,
    changed=1,
    embedded=5,
    failed=1,
    with_problems=1,
    problems=(Problem("b.md", "yaml", "It is odd.", 3, "Mend it."),),
    seconds=0.25,
)


def state(name: str, **changes: Any) -> dict[str, Any]:
    fields = {"phase": None, "done": 0, "total": 0, "path": None, "error": None}
    return {"state": name, **fields, "last_report": report_view(REPORT), **changes}


class ScriptedSidecar:
    """Goes through the given states, one a question; refuses the first `busy` starts."""

    def __init__(self, states: list[dict[str, Any]], busy: int = 0) -> None:
        self.states = states
        self.busy = busy
        self.bodies: list[dict[str, bool]] = []

    def start_index(self, body: Any) -> Any:
        self.bodies.append(body)
        if self.busy:
            self.busy -= 1
            raise error_from(409, {"detail": "Busy.", "error": "already_running", "hint": None})
        return self.index_state()

    def index_state(self) -> Any:
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]


def follow(sidecar: ScriptedSidecar, **options: bool) -> tuple[SyncReport, list[Progress]]:
    seen: list[Progress] = []
    report = reindex_by_sidecar(sidecar, seen.append, sleep=lambda _: None, **options)  # type: ignore[arg-type]
    return report, seen


def test_progress_is_shown_until_the_report_is_there() -> None:
    steps = [
        state("indexing"),
        state("indexing", phase="read", done=1, total=3, path="a.md"),
        state("indexing", phase="passages", done=4, total=9),
        state("ready"),
    ]
    sidecar = ScriptedSidecar(steps)
    report, seen = follow(sidecar, full=True)
    assert report == REPORT
    assert seen == [Progress("read", 1, 3, "a.md"), Progress("passages", 4, 9)]
    assert sidecar.bodies == [{"full": True, "accept_deletions": False}]


def test_a_run_under_way_is_waited_for_and_another_one_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sidecar = ScriptedSidecar([state("indexing"), state("ready")], busy=2)
    report, _ = follow(sidecar, accept_deletions=True)
    assert report == REPORT
    assert sidecar.bodies == [{"full": False, "accept_deletions": True}] * 3
    assert capsys.readouterr().err.count("waiting") == 1


def test_a_run_that_failed_is_an_error_with_its_sentence() -> None:
    sidecar = ScriptedSidecar([state("indexing"), state("ready", error="No space left.")])
    with pytest.raises(StorageError, match="No space left"):
        follow(sidecar)


def test_the_deletion_brake_of_the_sidecar_is_the_same_error_as_here() -> None:
    sidecar = ScriptedSidecar([state("indexing"), state("suspect", error="Most notes are gone.")])
    with pytest.raises(DeletionBrake, match="Most notes") as raised:
        follow(sidecar)
    assert "--accept-deletions" in (raised.value.hint or "")


def test_a_sidecar_that_stopped_halfway_did_not_finish() -> None:
    sidecar = ScriptedSidecar([state("indexing"), state("ready", last_report=None)])
    with pytest.raises(StorageError, match="before it had finished"):
        follow(sidecar)


def test_a_report_survives_the_wire() -> None:
    assert read_report(report_view(REPORT)) == REPORT


def test_other_refusals_are_shown() -> None:
    class Refusing(ScriptedSidecar):
        def start_index(self, body: Any) -> Any:
            raise error_from(501, {"detail": "Not here.", "error": "x", "hint": None})

    with pytest.raises(Exception, match="Not here"):
        follow(Refusing([state("ready")]))
