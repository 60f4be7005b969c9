"""What a hook starts: waits for git to finish, then brings the index up to the notes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

WAITING_FILE = "hook.waiting"
LOG_FILE = "hook.log"
MOST_LOG_BYTES = 64 * 1024
# Git puts a stash back after its hooks have run; a program that is no git may live on for days.
GIT_SECONDS = 30.0
# A first index of a large vault takes that long; whoever comes later waits in our place.
WRITER_SECONDS = 1800.0
EXIT_LOCKED = 5

Reindex = Callable[[], tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as this module uses it."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def run(
    state: Path,
    name: str,
    reindex: Reindex,
    git_runs: Callable[[], bool],
    clock: Clock | None = None,
) -> int | None:
    """Reindex once git has finished and no other process writes; the exit code of that.

    Of several that wait only the newest stays: it sees what the others would have seen. None when
    a newer one came, or the writer never ended. `reindex` gives an exit code and what was said.
    """
    clock = clock or Clock()
    place = _Place(state)
    try:
        place.take()
        if not place.wait(clock, GIT_SECONDS, lambda: not git_runs(), slowest=0.1):
            return None
        code = _patiently(place, reindex, clock, lambda said: _log(state, name, said))
        return None if code == EXIT_LOCKED else code
    finally:
        place.leave()


def _patiently(place: _Place, reindex: Reindex, clock: Clock, log: Callable[[str], None]) -> int:
    """Another writer is no fault and not worth a line: it is tried again when it may have ended."""
    code = EXIT_LOCKED

    def done() -> bool:
        nonlocal code
        code, said = reindex()
        if code != EXIT_LOCKED:
            log(said)
        return code != EXIT_LOCKED

    place.wait(clock, WRITER_SECONDS, done, slowest=5.0)
    return code


class _Place:
    """The one place in the queue: whoever wrote the file last has it."""

    def __init__(self, state: Path) -> None:
        self._file = state / WAITING_FILE
        self._ticket = f"{os.getpid()} {time.time_ns()}"

    def take(self) -> None:
        self._file.write_text(self._ticket, encoding="ascii")

    def is_ours(self) -> bool:
        try:
            return self._file.read_text(encoding="ascii", errors="replace") in (self._ticket, "")
        except OSError:
            return True  # deleted together with the index: nobody else has come

    def wait(self, clock: Clock, most: float, over: Callable[[], bool], *, slowest: float) -> bool:
        """Ask `over` more and more rarely; False only when somebody newer took the place."""
        until, pause = clock.now() + most, 0.05
        while self.is_ours():
            if over() or clock.now() >= until:
                return True
            clock.sleep(pause)
            pause = min(2 * pause, slowest)
        return False

    def leave(self) -> None:
        if self.is_ours():
            self._file.unlink(missing_ok=True)


def is_running(pid: int) -> bool:
    """Whether a process of this machine is still there; False where that cannot be asked."""
    if os.name != "posix" or pid <= 1:  # elsewhere the question would end the process
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _log(state: Path, name: str, said: str) -> None:
    """Add lines with a time before each, and drop the oldest when the file has grown long."""
    file = state / LOG_FILE
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [f"{now} {name}: {line}\n".encode() for line in said.splitlines()[-100:]]
    with file.open("ab") as log:
        log.write(b"".join(lines))
    if file.stat().st_size > MOST_LOG_BYTES:
        kept = file.read_bytes()[-MOST_LOG_BYTES // 2 :].partition(b"\n")[2]
        temporary = file.with_name(f"{LOG_FILE}.{os.getpid()}")
        temporary.write_bytes(kept)
        temporary.replace(file)
