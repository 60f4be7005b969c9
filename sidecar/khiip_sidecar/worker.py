"""The indexing thread: one sync at a time, its progress readable at any moment."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from khiip_indexer.errors import Busy, DeletionBrake, KhiipError
from khiip_indexer.records import Phase, Progress, SyncReport

if TYPE_CHECKING:
    from khiip_indexer.sync import Syncer

log = logging.getLogger(__name__)

State = Literal["ready", "warming", "indexing", "suspect"]
REFETCH_PATIENCE_SECONDS = 10.0
# A sync that nobody asked for shows as indexing from so many notes or passages on.
QUIET_WORK = 8
# How often it is looked whether the index is still there, or the vault again: two looks at files.
STANDING_SECONDS = 2.0
# What may be over at any moment, without anybody telling.
_PASSING = frozenset({"vault_unavailable", "vault_locked"})
THREAD = "khiip-indexing"


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


def idle_state(*, indexing: bool = False) -> WorkerState:
    """The state of a process that does no indexing; `indexing` when another one does."""
    return WorkerState("indexing" if indexing else "ready")


@dataclass(frozen=True, slots=True)
class _Job:
    """A sync to run; `asked` by a person (or the start), who is to see that it runs."""

    full: bool = False
    accept_deletions: bool = False
    paths: frozenset[str] | None = None
    asked: bool = True


class IndexWorker:
    """Runs syncs in a thread of its own, asked for by `ask`; also the one door to `refetch`.

    `notice` tells of changes: however many come while a sync runs, one more takes them all in.
    `warm` loads what the first query would otherwise wait for. It runs before every look at the
    whole vault, so that a model that was missing is found once it is back. `reconciled` is told
    how each such look ended, and of every failure.
    """

    def __init__(
        self,
        syncer: Syncer,
        warm: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        reconciled: Callable[[SyncReport | None], None] = lambda _: None,
    ) -> None:
        self._syncer = syncer
        self._warm = warm
        self._clock = clock
        self._reconciled = reconciled
        self._state = idle_state()
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._wake = threading.Condition(self._guard)
        self._wanted: _Job | None = None
        self._noticed: set[str] = set()
        self._running: _Job | None = None
        self._renamed: Collection[str] = ()
        self._warmed = False
        self._stopping = threading.Event()
        self._barred = False
        self._thread: threading.Thread | None = None
        self._phase_began = (0.0, 0)

    def start(self) -> None:
        """Warm up and catch up with the vault, in the background."""
        self._set(state="warming")
        self._wanted = _Job()
        self._thread = threading.Thread(target=self._work, name=THREAD, daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> bool:
        """Stop at the next step of the running sync; False when that took over `timeout` seconds.

        What was done is kept: every change is its own transaction.
        """
        self._stopping.set()
        self._syncer.stop()
        with self._wake:
            self._wake.notify()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def state(self) -> WorkerState:
        """A snapshot that does not change any more."""
        return self._state

    def ask(self, *, full: bool = False, accept_deletions: bool = False) -> None:
        """Have one more sync run; raises Busy while one runs or waits."""
        with self._wake:
            if self._wanted or (self._running and self._running.asked):
                raise Busy("Indexing is already under way.", hint="Wait until it has finished.")
            self._wanted = _Job(full, accept_deletions)
            self._set(state="indexing", phase="scan", done=0, total=0)
            self._wake.notify()

    def notice(self, paths: Collection[str] | None) -> None:
        """Have these notes and folders looked at soon; None is the whole vault."""
        with self._wake:
            self._noticed.update(("",) if paths is None else paths)
            self._wake.notify()

    def look_after_index(self) -> None:
        """Have an index that is not there any more begun anew, now; returns at once."""
        self.notice(None)

    def waits(self) -> bool:
        """Whether anything is running or waiting to run."""
        with self._guard:
            return bool(self._wanted or self._noticed or self._running)

    def refetch(self, path: str) -> None:
        """Read and embed one note again, now; waits for a running sync for ten seconds at most."""
        if not self._writing.acquire(timeout=REFETCH_PATIENCE_SECONDS):
            raise Busy("Indexing is under way.", hint="Try again when it has finished.")
        try:
            self._syncer.refetch(path)
        finally:
            self._writing.release()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            with self._writing:
                without_model = self._failure_of(self._warm) if self._must_warm(job) else None
                self._warmed = without_model is None
                failure = without_model
                if not _is_passing(failure):
                    failure = self._failure_of(lambda job=job: self._sync(job)) or failure  # type: ignore[misc]
            self._come_to_rest(job, failure)

    def _must_warm(self, job: _Job) -> bool:
        return job.paths is None or not self._warmed

    def _next(self) -> _Job | None:
        """The next sync, when there is one; None at the end."""
        while not self._wait():
            # Without the guard: a look at a drive that hangs must not keep those who ask.
            if self._barred or not self._syncer.stands():
                self.notice(None)
        with self._wake:
            if self._stopping.is_set():
                return None
            job, self._wanted = self._wanted, None
            if job is None:
                whole = "" in self._noticed
                job = _Job(paths=None if whole else frozenset(self._noticed), asked=False)
            self._noticed.clear()  # a look at the whole vault sees what was noticed before it
            self._running = job
            return job

    def _wait(self) -> bool:
        """Wait for something to do, or for the time to look at the index; true for the former."""
        with self._wake:
            if not (due := bool(self._wanted or self._noticed or self._stopping.is_set())):
                due = self._wake.wait(STANDING_SECONDS)
            return due and bool(self._wanted or self._noticed or self._stopping.is_set())

    def _noticed_meanwhile(self) -> frozenset[str]:
        """Changed notes for the running sync to take in; the whole vault waits for its end."""
        with self._guard:
            paths = frozenset(self._noticed - {""})
            self._noticed -= paths
            return paths

    def _sync(self, job: _Job) -> None:
        self._phase_began = (self._clock(), 0)
        if job.asked:
            self._set(state="indexing", phase="scan", done=0, total=0)
        report = self._syncer.run(
            full=job.full,
            accept_deletions=job.accept_deletions,
            paths=job.paths,
            progress=self._advance,
            noticed=self._noticed_meanwhile,
        )
        if job.asked or report.behind or report.embedded or self._state.last_report is None:
            self._set(last_report=report)
            log.info("%s", _said(report))
        if job.paths is None:
            self._reconciled(report)
        self._take_in_new_names(report)

    def _take_in_new_names(self, report: SyncReport) -> None:
        """Have the meaning of new file names that are titles made, now that the notes are found.

        One that could not be read this time is left to the next look at the whole vault.
        """
        before, self._renamed = self._renamed, self._syncer.renamed() if report.renamed else ()
        if new := set(self._renamed).difference(before):
            self.notice(new)

    def _failure_of(self, step: Callable[[], None]) -> KhiipError | None:
        """Whatever goes wrong is kept for people to see; the service goes on answering."""
        try:
            step()
        except KhiipError as error:
            again = error.sentence == self._state.error
            log.log(logging.DEBUG if again else logging.WARNING, "indexing failed: %s", error)
            return error
        except Exception as error:
            log.exception("indexing failed")
            return KhiipError(f"Indexing failed: {type(error).__name__}.")
        return None

    def _come_to_rest(self, job: _Job, failure: KhiipError | None) -> None:
        suspect = isinstance(failure, DeletionBrake)
        self._barred = _is_passing(failure)
        if failure is not None and not suspect:
            self._reconciled(None)
        with self._guard:
            self._running = None
            self._set(error=failure.sentence if failure else None)
            if self._wanted is None:
                self._set(
                    state="suspect" if suspect else "ready",
                    phase=None, done=0, total=0, rate=None, seconds_left=None, path=None,
                )  # fmt: skip

    def _advance(self, progress: Progress) -> None:
        if self._stopping.is_set():
            self._syncer.stop()  # once more: a run forgets a stop that came before its start
        job = self._running
        if job is not None and not job.asked and self._state.state != "indexing":
            if progress.total <= QUIET_WORK:
                return
            self._set(state="indexing")
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


def _is_passing(failure: KhiipError | None) -> bool:
    """Whether it stands in the way of any work, and may be over at any moment."""
    return failure is not None and failure.code in _PASSING


def leave(code: int) -> int:
    """The code to end the process with; ends it at once while an indexing thread still runs.

    Python ends such a thread where it stands. Inside the model or the graph that is in the middle
    of C++, which aborts the whole process; everything that was done is on disk by now.
    """
    if any(thread.name == THREAD for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    return code


def _said(report: SyncReport) -> str:
    return (
        f"{'index brought up to the notes' if report.complete else 'indexing stopped early'}: "
        f"{report.added} new, {report.changed} changed, "
        f"{report.moved} moved, {report.removed} removed; {report.embedded} texts embedded "
        f"in {report.seconds:.1f} s"
    )
