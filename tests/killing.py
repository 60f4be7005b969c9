"""Ends a process at a chosen step of the indexer's own work."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import khiip_indexer

PACKAGE = str(Path(khiip_indexer.__file__).parent)


class Killer:
    """Counts calls made inside the package and ends the process by SIGKILL at the chosen one.

    Given to `sys.setprofile` in a child; at 0 it only counts.
    """

    def __init__(self, at: int) -> None:
        self.at = at
        self.calls = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(PACKAGE):
            self.calls += 1
            if self.calls == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


def run_in_child(work: Callable[[], object], at: int) -> tuple[int, int]:
    """(exit status, calls made) of some work in a child that dies at call `at`; 0: never."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        killer = Killer(at)
        try:
            sys.setprofile(killer)
            work()
        finally:
            sys.setprofile(None)
            os.write(writer, str(killer.calls).encode())
            os._exit(0)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return status, int(pipe.read() or 0)
