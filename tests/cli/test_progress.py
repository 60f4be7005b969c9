"""Progress on stderr: a bar for a person, lines for a log."""

from __future__ import annotations

import io
import sys

import pytest

from khiip_indexer.records import Phase, Progress
from khiip_sidecar.cli.progress import BarReporter, PlainReporter, reporter

STEPS: list[tuple[Phase, int, int]] = [
    ("scan", 0, 0),
    ("read", 0, 3),
    ("read", 3, 3),
    ("first_vectors", 1, 1200),
    ("first_vectors", 1200, 1200),
    ("passages", 0, 0),
    ("save", 0, 1),
    ("done", 1, 1),
]


def walk(report: BarReporter | PlainReporter) -> None:
    for phase, done, total in STEPS:
        report(Progress(phase, done, total, "Notes/[a] b.md"))


def test_a_log_gets_one_line_a_phase_with_work(capsys: pytest.CaptureFixture[str]) -> None:
    walk(PlainReporter())
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["reading: 3 notes", "embedding notes: 1,200 notes"]


def test_without_a_terminal_there_is_no_bar() -> None:
    with reporter() as report:
        assert isinstance(report, PlainReporter)


def test_a_run_without_work_says_nothing_and_loads_no_bar(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bar, lines = BarReporter(), PlainReporter()
    for report in (bar, lines):
        report(Progress("scan", 0, 0))
        report(Progress("read", 0, 0))
        report(Progress("done", 1, 1))
    bar.stop()
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_notes_rate_and_path_on_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen, out = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with reporter() as report:
        assert isinstance(report, BarReporter)
        walk(report)
    assert out.getvalue() == ""
    shown = screen.getvalue()
    assert "1200/1200" in shown
    assert "[a] b.md" in shown
