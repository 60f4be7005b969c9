"""`khiipd status` while something happens, and `--watch`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.conftest import Khiipd
from cli.double import running_double
from cli.repository import make_program
from khiip_sidecar.cli.facts import coverage, work
from khiip_sidecar.cli.watch import changes, line_of, sparingly, states
from khiip_sidecar.client import read_events
from support import wait_until, write_note


def state(name: str = "ready", **changed: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "phase": None, "done": 0, "total": 0, "rate": None, "seconds_left": None, "path": None,
        "coverage": {"notes": 501, "searchable_by_meaning": 423, "pending": 0},
    }  # fmt: skip
    return {"state": name, **fields, **changed}


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"pending": 0}, "423 of 501 notes searchable by meaning"),
        ({"pending": 70}, "423 of 501 notes searchable by meaning; 70 waiting"),
        (
            {"pending": 1, "failed": 2, "offline": 3, "unreadable": 4},
            "423 of 501 notes searchable by meaning; 1 waiting, "
            "2 given up (see their problems), 3 not on this disk, 4 unreadable",
        ),
    ],
)
def test_coverage_says_why_not_the_rest(known: dict[str, int], said: str) -> None:
    assert coverage(state(coverage={"notes": 501, "searchable_by_meaning": 423, **known})) == said


def test_without_an_embedder_nothing_is_said_to_wait() -> None:
    known = {"notes": 6, "searchable_by_text": 5, "searchable_by_meaning": 0, "unreadable": 1}
    by_words = "5 of 6 notes searchable by words alone (no embedder)"
    assert coverage(state(coverage=known)) == f"{by_words}; 1 unreadable"
    waiting = coverage(state(coverage={**known, "pending": 5}))
    assert waiting == "0 of 6 notes searchable by meaning; 5 waiting, 1 unreadable"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "indexing"),
        ({"phase": "scan"}, "indexing: looking at the vault"),
        (
            {"phase": "first_vectors", "done": 120, "total": 1200, "rate": 35.2,
             "seconds_left": 30.7},
            "indexing: embedding notes, 120 of 1,200, 35/s, 31 s left",
        ),
        (
            {"phase": "passages", "done": 1, "total": 9000, "rate": 0.6, "seconds_left": 14998.0},
            "indexing: embedding passages, 1 of 9,000, 0.6/s, 4 h 10 min left",
        ),
        ({"phase": "new_phase", "done": 1, "total": 2}, "indexing: new phase, 1 of 2"),
    ],
)  # fmt: skip
def test_work_is_told_with_rate_and_time_left(fields: dict[str, Any], said: str) -> None:
    assert work(state("indexing", **fields)) == said


def test_a_log_hears_of_each_kind_of_work_and_then_once_a_second() -> None:
    clock = iter([0.0, 0.5, 1.0, 1.0, 2.5, 2.6]).__next__
    steps = [state("indexing", phase="read", done=number) for number in range(3)]
    steps += [state("indexing", phase="save"), state("indexing", phase="save", done=1)]
    heard = [(each["phase"], each["done"]) for each in sparingly(steps, clock)]
    assert heard == [("read", 0), ("read", 2), ("save", 0)]


def test_what_does_not_change_is_said_once() -> None:
    lines = list(changes([state(), state(), state("warming"), state()], line_of))
    assert [line.partition(";")[0] for line in lines] == ["ready", "warming", "ready"]


def test_events_are_read_and_the_rest_is_passed_over() -> None:
    raw = (
        b'event: progress\ndata: {"state":"ready"}\n\n: still here\n\nevent: error\n'
        b'data: {"error":"x"}\n\nevent: progress\ndata: {broken\n\n'
        b'event: progress\r\ndata: {"state":"warming"}\r\n\r\ndata: {"no":"name"}\n'
    )
    said = [each["state"] for each in read_events(raw.splitlines(keepends=True))]
    assert said == ["ready", "warming"]


@given(st.lists(st.binary(max_size=60)))
def test_no_stream_breaks_the_reader(lines: list[bytes]) -> None:
    list(read_events([b"event: progress\n", *(b"data:" + line for line in lines), *lines]))


class Enough(Exception):
    """Ends a watch that has no end of its own."""


def first(cli: Khiipd, number: int) -> list[str]:
    """The states that a watch sees until it has slept so often."""
    seen: list[str] = []
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == number:
            raise Enough

    def watch() -> None:
        for each in states(cli.settings, sleep):
            seen.append(each["state"])

    with pytest.raises(Enough):
        watch()
    return seen


def test_without_events_the_sidecar_is_asked_each_second(indexed: Khiipd) -> None:
    with running_double(indexed.settings) as double:
        double.answers["GET /api/v1/index"] = (200, state("indexing"))
        double.answers["GET /api/v1/index/events"] = (429, {"detail": "Too many.", "error": "x"})
        assert first(indexed, 3) == ["indexing"] * 3


def test_events_are_followed_and_then_the_index_itself(indexed: Khiipd) -> None:
    with running_double(indexed.settings) as double:
        double.answers["GET /api/v1/index"] = (200, state("warming"))
        event = b"event: progress\ndata: %s\n\n"
        steps = [event % json.dumps(state(name)).encode() for name in ("indexing", "ready")]
        double.answers["GET /api/v1/index/events"] = (200, b"".join(steps))
        assert first(indexed, 1) == ["warming", "indexing", "ready"]
        events = [key for path, key in double.keys if path == "/api/v1/index/events"]
        assert (events[0] or "").startswith("Bearer khiip_")
    assert first(indexed, 2) == ["ready"] * 2


def test_status_shows_the_work_of_a_sidecar(indexed: Khiipd) -> None:
    indexed.embedder.fail_on = lambda text: "unlucky" in text
    for number in range(30):
        write_note(indexed.settings.vault, f"more/{number}.md", f"note {number} of many")
    write_note(indexed.settings.vault, "more/bad.md", "an unlucky note")
    with indexed.served():
        shown = indexed.run("status")
        assert shown.exit_code == 3
        assert "33 of 34 notes searchable by meaning; 1 waiting" in shown.stdout
        assert "changes   noticed at once" in shown.stdout
        assert "  more/bad.md: " in shown.stdout
    for _ in range(3):
        indexed.run("reindex")
    shown = indexed.run("status")
    assert "33 of 34 notes searchable by meaning; 1 given up (see their problems)" in shown.stdout
    assert "not running" in shown.stdout


def test_a_slow_run_is_seen_by_status_and_by_a_second_reindex(cli: Khiipd) -> None:
    go_on = threading.Event()

    def held(text: str) -> bool:
        if "patience" in text:
            go_on.wait(30)
        return False

    cli.embedder.fail_on = held
    wait = Khiipd.wait_until_ready
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Khiipd, "wait_until_ready", lambda _: None)
        with cli.served():
            try:
                wait_until(lambda: "embedding notes" in cli.run("status").stdout)
                shown = cli.run("status").stdout
                assert "indexing: embedding notes, " in shown
                assert "of 3 notes searchable by meaning; " in shown
                threading.Timer(1.0, go_on.set).start()
                result = cli.ok("reindex")
            finally:
                go_on.set()
            wait(cli)
    assert "the sidecar is indexing; waiting for it to finish" in result.stderr
    assert "indexed 3 notes" in result.stderr


@contextmanager
def watching(cli: Khiipd, tmp_path: Path, *args: str) -> Iterator[tuple[list[str], Any]]:
    """`khiipd status --watch` in a process, its lines as they come."""
    program = make_program(tmp_path / "khiipd")
    process = subprocess.Popen(
        [program, "--vault", cli.settings.vault, "status", "--watch", *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    lines: list[str] = []
    assert process.stdout is not None
    out = process.stdout
    reader = threading.Thread(target=lambda: lines.extend(_seen(out, lines)))
    reader.start()
    try:
        yield lines, process
    finally:
        process.kill()
        reader.join(10)
        process.communicate()


def _seen(out: Any, lines: list[str]) -> list[str]:
    for line in out:
        lines.append(line)
    return []


@pytest.mark.parametrize("args", [(), ("--json",)])
def test_a_watch_sees_notes_come_with_and_without_a_sidecar_and_ends_quietly(
    indexed: Khiipd, tmp_path: Path, args: tuple[str, ...]
) -> None:
    def seen(lines: list[str], number: int) -> bool:
        if args:
            return any(json.loads(line)["counts"]["notes"] == number for line in list(lines))
        return any(f"{number} of {number} notes" in line for line in list(lines))

    with watching(indexed, tmp_path, *args) as (lines, process):
        wait_until(lambda: seen(lines, 3))
        write_note(indexed.settings.vault, "Four.md", "the fourth note")
        indexed.ok("reindex")
        wait_until(lambda: seen(lines, 4))
        with indexed.served():
            write_note(indexed.settings.vault, "Five.md", "the fifth note")
            indexed.ok("reindex")
            wait_until(lambda: seen(lines, 5))
        write_note(indexed.settings.vault, "Six.md", "the sixth note")
        indexed.ok("reindex")
        wait_until(lambda: seen(lines, 6))
        process.send_signal(signal.SIGINT)
        process.wait(20)
        assert (process.returncode, process.stderr.read()) == (0, "")


def test_a_watch_of_nothing_is_code_4(cli: Khiipd) -> None:
    assert cli.run("status", "--watch").exit_code == 4


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal that can be made")
def test_on_a_terminal_the_lines_are_painted_again_in_place(
    indexed: Khiipd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pty

    monkeypatch.setenv("TERM", "xterm")
    program = make_program(tmp_path / "khiipd")
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [program, "--vault", indexed.settings.vault, "status", "--watch"],
        stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    shown: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(leader, shown.append))
    reader.start()
    wait_until(lambda: b"3 of 3 notes" in b"".join(shown))
    write_note(indexed.settings.vault, "Four.md", "the fourth note")
    indexed.ok("reindex")
    wait_until(lambda: b"4 of 4 notes" in b"".join(shown))
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    reader.join(10)
    os.close(leader)
    assert b"\x1b[" in b"".join(shown)
    assert b"Traceback" not in b"".join(shown)


def _read_all(handle: int, keep: Callable[[bytes], None]) -> None:
    try:
        while piece := os.read(handle, 65536):
            keep(piece)
    except OSError:  # the other end of a terminal closes like this
        return
