"""Whole processes, measured by the system's own accounts of them."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """One finished process: seconds of wall and of processor, peak memory in MiB."""

    wall: float
    cpu: float
    peak: float


def measure(
    command: Sequence[str], env: Mapping[str, str], *, allowed: Sequence[int] = (0,)
) -> Cost:
    """Run a command to its end, its output thrown away."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def in_turn(rounds: int, *works: Callable[[], Cost]) -> list[list[Cost]]:
    """Run the works A B A B …, so that a busy moment falls on both; the first round warms up."""
    results: list[list[Cost]] = [[] for _ in works]
    for round_ in range(rounds + 1):
        for result, work in zip(results, works, strict=True):
            cost = work()
            if round_:
                result.append(cost)
    return results


def median(costs: Sequence[Cost], what: str) -> float:
    """The middle of one figure over several runs."""
    return statistics.median(float(getattr(cost, what)) for cost in costs)


def machine() -> str:
    """What the figures were measured on."""
    import platform

    cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in cpuinfo if line.startswith("model name")]
    processor = names[0] if names else platform.machine()
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores ({processor}), {system}"
