"""What a hook starts: who waits, who gives way, and what is written down."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from khiip_sidecar.githooks.run import (
    GIT_SECONDS,
    LOG_FILE,
    MOST_LOG_BYTES,
    WAITING_FILE,
    WRITER_SECONDS,
    Clock,
    is_running,
    run,
)


class FakeTime:
    """Time that passes only by sleeping; `at` is called after each sleep."""

    def __init__(self, at: Callable[[float], None] = lambda _: None) -> None:
        self.seconds = 0.0
        self.at = at
        self.sleeps = 0
        self.clock = Clock(lambda: self.seconds, self.sleep)

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        self.sleeps += 1
        self.at(self.seconds)


def done() -> tuple[int, str]:
    return 0, "indexed 2 notes\n"


def no_git() -> bool:
    return False


def test_it_waits_for_git_to_end(tmp_path: Path) -> None:
    time = FakeTime()
    begun: list[float] = []

    def reindex() -> tuple[int, str]:
        begun.append(time.seconds)
        return done()

    assert run(tmp_path, "post-merge", reindex, lambda: time.seconds < 3, time.clock) == 0
    assert 3 <= begun[0] < 4
    assert (tmp_path / LOG_FILE).read_text().endswith(" post-merge: indexed 2 notes\n")
    assert not (tmp_path / WAITING_FILE).exists()


def test_a_git_that_does_not_end_is_not_waited_for_long(tmp_path: Path) -> None:
    time = FakeTime()
    assert run(tmp_path, "post-merge", done, lambda: True, time.clock) == 0
    assert GIT_SECONDS <= time.seconds < GIT_SECONDS + 1


def test_a_newer_one_takes_the_place_while_git_runs(tmp_path: Path) -> None:
    def newer(_: float) -> None:
        (tmp_path / WAITING_FILE).write_text("somebody else")

    time = FakeTime(newer)
    assert run(tmp_path, "post-merge", done, lambda: True, time.clock) is None
    assert not (tmp_path / LOG_FILE).exists()
    assert (tmp_path / WAITING_FILE).read_text() == "somebody else"


def test_another_writer_is_waited_for_in_silence(tmp_path: Path) -> None:
    time = FakeTime()

    def reindex() -> tuple[int, str]:
        return (5, "vault is served by pid 7") if time.seconds < 100 else done()

    assert run(tmp_path, "post-merge", reindex, no_git, time.clock) == 0
    assert (tmp_path / LOG_FILE).read_text().count("\n") == 1
    assert time.sleeps < 40, "it asks too often"


def test_while_another_writes_only_the_newest_goes_on_waiting(tmp_path: Path) -> None:
    def newer(seconds: float) -> None:
        if seconds > 20:
            (tmp_path / WAITING_FILE).write_text("somebody else")

    time = FakeTime(newer)
    assert run(tmp_path, "post-merge", lambda: (5, "no"), no_git, time.clock) is None
    assert time.seconds < 30


def test_a_writer_that_never_ends_is_given_up(tmp_path: Path) -> None:
    time = FakeTime()
    assert run(tmp_path, "post-merge", lambda: (5, "no"), no_git, time.clock) is None
    assert WRITER_SECONDS <= time.seconds < WRITER_SECONDS + 10
    assert list(tmp_path.iterdir()) == []


def test_the_log_stays_short_and_keeps_whole_and_newest_lines(tmp_path: Path) -> None:
    for number in range(60):
        said = "\n".join(f"run {number} line {line} {'x' * 80}" for line in range(300))
        run(tmp_path, "post-merge", lambda said=said: (3, said), no_git, FakeTime().clock)  # type: ignore[misc]
        assert (tmp_path / LOG_FILE).stat().st_size <= MOST_LOG_BYTES
    lines = (tmp_path / LOG_FILE).read_text().splitlines()
    assert " run 59 line 299 " in lines[-1]
    assert all(" post-merge: run " in line for line in lines)


def test_an_index_that_is_deleted_meanwhile_is_no_error(tmp_path: Path) -> None:
    def delete(_: float) -> None:
        (tmp_path / WAITING_FILE).unlink(missing_ok=True)

    time = FakeTime(delete)
    assert run(tmp_path, "post-merge", done, lambda: time.seconds < 1, time.clock) == 0


def test_a_process_runs_until_it_has_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_running(process.pid)
    process.communicate(b"\n")
    assert not is_running(process.pid)
    assert not is_running(0)
    assert not is_running(1)
    assert is_running(os.getpid())
