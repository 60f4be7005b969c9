"""The indexing thread: one sync at a time, its progress readable at any moment."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from khiip_indexer.errors import Busy, DeletionBrake, KhiipError
from khiip_indexer.records import Phase, Progress, SyncReport

if TYPE_CHECKING:
    from khiip_indexer.sync import Syncer

log = logging.getLogger(__name__)

State = Literal["ready", "warming", "indexing", "suspect"]
REFETCH_PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What the thread does: `done` of `total` in this `phase`, `rate` a second.

    `error` is the sentence of the last run's failure; None once a run went well.
    """

    state: State
    phase: Phase | None = None
    done: int = 0
    total: int = 0
    rate: float | None = None
    seconds_left: float | None = None
    path: str | None = None
    error: str | None = None
    last_report: SyncReport | None = None


def idle_state() -> WorkerState:
    """The state of a process that does no indexing."""
    return WorkerState("ready")


@dataclass(frozen=True, slots=True)
class _Job:
    full: bool = False
    accept_deletions: bool = False


class IndexWorker:
    """Runs syncs in a thread of its own, asked for by `ask`; also the one door to `refetch`.

    `warm` loads what the first query would otherwise wait for. It runs before every sync, so that
    a model that was missing is found once it is back.
    """

    def __init__(
        self,
        syncer: Syncer,
        warm: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._syncer = syncer
        self._warm = warm
        self._clock = clock
        self._state = idle_state()
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._asked = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._phase_began = (0.0, 0)

    def start(self) -> None:
        """Warm up and catch up with the vault, in the background."""
        self._set(state="warming")
        self._asked = True
        self._jobs.put(_Job())
        self._thread = threading.Thread(target=self._work, name="khiip-indexing", daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Stop at the next step of the running sync; False when that took over `timeout` seconds.

        What was done is kept: every change is its own transaction.
        """
        self._stopping.set()
        self._syncer.stop()
        self._jobs.put(None)
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def state(self) -> WorkerState:
        """A snapshot that does not change any more."""
        return self._state

    def ask(self, *, full: bool = False, accept_deletions: bool = False) -> None:
        """Have one more sync run; raises Busy while one runs or waits."""
        with self._guard:
            if self._asked:
                raise Busy("Indexing is already under way.", hint="Wait until it has finished.")
            self._asked = True
            self._set(state="indexing", phase="scan", done=0, total=0)
        self._jobs.put(_Job(full, accept_deletions))

    def refetch(self, path: str) -> None:
        """Read and embed one note again, now; waits for a running sync for ten seconds at most."""
        if not self._writing.acquire(timeout=REFETCH_PATIENCE_SECONDS):
            raise Busy("Indexing is under way.", hint="Try again when it has finished.")
        try:
            self._syncer.refetch(path)
        finally:
            self._writing.release()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self._stopping.is_set():
            with self._writing:
                without_model = self._failure_of(self._warm)
                failure = self._failure_of(lambda job=job: self._sync(job))  # type: ignore[misc]
            self._come_to_rest(failure or without_model)

    def _sync(self, job: _Job) -> None:
        self._phase_began = (self._clock(), 0)
        self._set(state="indexing", phase="scan", done=0, total=0)
        report = self._syncer.run(
            full=job.full, accept_deletions=job.accept_deletions, progress=self._advance
        )
        self._set(last_report=report)

    def _failure_of(self, step: Callable[[], None]) -> KhiipError | None:
        """Whatever goes wrong is kept for people to see; the service goes on answering."""
        try:
            step()
        except KhiipError as error:
            log.warning("indexing failed: %s", error.sentence)
            return error
        except Exception as error:
            log.exception("indexing failed")
            return KhiipError(f"Indexing failed: {type(error).__name__}.")
        return None

    def _come_to_rest(self, failure: KhiipError | None) -> None:
        with self._guard:
            self._asked = False
            self._set(
                state="suspect" if isinstance(failure, DeletionBrake) else "ready",
                error=failure.sentence if failure else None,
                phase=None,
                done=0,
                total=0,
                rate=None,
                seconds_left=None,
                path=None,
            )

    def _advance(self, progress: Progress) -> None:
        if self._stopping.is_set():
            self._syncer.stop()  # once more: a run forgets a stop that came before its start
        now = self._clock()
        if progress.phase != self._state.phase:
            self._phase_began = (now, progress.done)
        began, first = self._phase_began
        rate = (progress.done - first) / (now - began) if now > began else 0.0
        left = max(0, progress.total - progress.done)
        self._set(
            phase=progress.phase,
            done=progress.done,
            total=progress.total,
            path=progress.path,
            rate=rate or None,
            seconds_left=left / rate if rate else None,
        )

    def _set(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]
