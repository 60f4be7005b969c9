"""The state of an index as it changes: by the sidecar's events, else by asking each second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError
from khiip_sidecar.cli.app import local_backend
from khiip_sidecar.cli.facts import State, coverage, work
from khiip_sidecar.client import find_sidecar

POLL_SECONDS = 1.0
Sleep = Callable[[float], None]
T = TypeVar("T")


def states(settings: Settings, sleep: Sleep = time.sleep) -> Iterator[State]:
    """What /api/v1/index answers, again and again, without an end.

    A sidecar may come and go meanwhile. Raises what the first look at the index raises.
    """
    while True:
        sidecar = find_sidecar(settings)
        if sidecar is None:
            with local_backend(settings) as local:
                state: State = local.index_state()
            yield state
        else:
            try:
                yield sidecar.index_state()
                yield from sidecar.index_events()
            except KhiipError:
                # It stopped, sends no events, or to nobody more: the next round finds out.
                sleep(POLL_SECONDS)
                continue
        sleep(POLL_SECONDS)


def changes(given: Iterable[State], shown: Callable[[State], T]) -> Iterator[T]:
    """What is shown of each state, where that differs from what was shown before."""
    before: T | None = None
    for state in given:
        now = shown(state)
        if now != before:
            before = now
            yield now


def sparingly(
    given: Iterable[State], clock: Callable[[], float] = time.monotonic
) -> Iterator[State]:
    """At most one state a second of the same kind of work, for a log."""
    kind, last = None, 0.0
    for state in given:
        of_this = (state["state"], state["phase"])
        if of_this != kind or clock() - last >= POLL_SECONDS:
            kind, last = of_this, clock()
            yield state


def line_of(state: State) -> str:
    """One line for a log."""
    return f"{work(state)}; {coverage(state)}"
