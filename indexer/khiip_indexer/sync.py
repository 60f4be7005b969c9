"""Brings an index up to date with its vault: plan, text, vectors, graph."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from khiip_indexer.disk.ages import Ages
from khiip_indexer.embedding.lineup import Lineup
from khiip_indexer.errors import IndexMissing, ModelError, NotFound, StorageError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Progress, SyncReport
from khiip_indexer.storage import queries
from khiip_indexer.storage.database import translated
from khiip_indexer.storage.vector_log import save_is_due
from khiip_indexer.syncing import versions, work
from khiip_indexer.syncing.bookkeeping import Bookkeeping
from khiip_indexer.syncing.intake import Intake, Watch
from khiip_indexer.syncing.integrity import mend_words, verify
from khiip_indexer.syncing.planner import Planner
from khiip_indexer.syncing.work import Work, check
from khiip_indexer.types import ModelIdentity, Problem

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.syncing.embedding import Tally

_log = logging.getLogger(__name__)

Noticed = Callable[[], Collection[str]]
T = TypeVar("T")


def _now() -> datetime:
    return datetime.now(UTC)


def _silent(_: Progress) -> None:
    return None


def _nothing() -> Collection[str]:
    return ()


class Syncer:
    """The one writer of an index; one `run` at a time, `stop` from any thread.

    Of a lineup, the embedder whose vectors answer is kept up to date, and then the wanted one
    embeds the vault and takes over. A single embedder takes over at once.
    """

    def __init__(
        self, index: VaultIndex, embedder: Embedder | Lineup, clock: Callable[[], datetime] = _now
    ) -> None:
        self._index = index
        self._database = index.database
        self._lineup = embedder if isinstance(embedder, Lineup) else Lineup(embedder)
        self._embedder = self._lineup.wanted
        self._clock = clock
        self._ages = Ages(index.settings.vault)
        self._stop = threading.Event()
        self._noticed: Noticed = _nothing
        self._planner = Planner(index, self._ages, clock)
        self._books = Bookkeeping(index)
        self._balked = False
        self._failed: Embedder | None = None

    def stands(self) -> bool:
        """Whether the index's files are still those that are written; else a run begins anew."""
        return self._index.stands()

    def stop(self) -> None:
        """Let a run in another thread end after its current batch."""
        self._stop.set()

    def run(
        self,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        paths: Collection[str] | None = None,
        progress: Watch = _silent,
        noticed: Noticed = _nothing,
    ) -> SyncReport:
        """Take in every change of the vault; `full` reads every note again.

        `paths` are the notes and folders that changed, when that is known: only they are looked
        at, unless something says that more has changed. While vectors are made, which may take
        long, `noticed` is asked for paths to take in before it goes on. Raises DeletionBrake at
        the end, everything else done, when most notes are gone and `accept_deletions` is not set.
        """
        self._stop.clear()
        self._failed = None
        started = time.monotonic()
        if self._index.take_up():
            paths = None
        self._noticed = noticed
        try:
            report, kept = self._repairing(
                lambda: self._run_and_switch(full, accept_deletions, paths, progress)
            )
        finally:
            self._noticed = _nothing
        if kept:
            raise work.brake(kept)
        return replace(report, seconds=time.monotonic() - started)

    def _repairing(self, run: Callable[[], T]) -> T:
        """A cache that turns out to be damaged is set aside, and the run is made once more."""
        if self._index.suspected:
            self._index.repair()
        try:
            with translated(self._database.path):
                return run()
        except StorageError as error:
            if error.code != "index_damaged":
                raise
            self._index.repair()
        with translated(self._database.path):
            return run()

    def _run_and_switch(
        self,
        full: bool,
        accept_deletions: bool,
        paths: Collection[str] | None,
        progress: Watch,
    ) -> tuple[SyncReport, int]:
        if paths is None:
            self._lineup.refresh()
        self._embedder = self._lineup.serving(self._index.model())
        report, kept = self._run(full, accept_deletions, paths, progress)
        if self._embedder is self._lineup.wanted:
            versions.keep(self._database)
        elif report.complete and (paths is None or not self._balked):
            report = self._backfilled(report, progress)
        return report, kept

    def _backfilled(self, report: SyncReport, progress: Watch) -> SyncReport:
        """Have the wanted embedder embed everything, and take over when it has."""
        from khiip_indexer.syncing.backfill import Backfill

        self._balked = True  # until it went well: an edit alone is no reason to try again
        wanted = self._lineup.wanted
        between, halted = self._between_batches, self._stop.is_set
        backfill = Backfill(self._index, wanted, between, self._clock, halted)
        if backfill.run(lambda phase, done, total: progress(Progress(phase, done, total))):
            self._embedder = wanted
            self._lineup.chose(wanted.identity)
            self._save_when_due(int(self._index.meta("generation") or 0), progress)
            self._index.graphs.load(wanted.identity)
        self._balked = False
        progress(Progress("done", 1, 1))
        pending = work.pending_notes(self._index)
        done = backfill.tally.added_to(report)
        return replace(done, pending=pending, complete=not self._stop.is_set())

    def _run(
        self,
        full: bool,
        accept_deletions: bool,
        paths: Collection[str] | None,
        progress: Watch,
        *,
        between: bool = False,
    ) -> tuple[SyncReport, int]:
        reread_all = self._adopt(self._embedder.identity) or full
        if reread_all or self._planner.more_has_changed():
            paths = None
        backlog = self._index.meta("pending") is not None
        progress(Progress("scan", 0, 0))
        todo = self._planner.plan(paths, reread_all=reread_all, accept_deletions=accept_deletions)
        intake = self._intake()
        problems = intake.take_text(todo, progress)
        if full:
            mend_words(self._index)
        only = todo.to_read if between or (todo.scan.under is not None and not backlog) else None
        tally = self._make_vectors(intake, progress, only, last=not between)
        self._books.note_problems(todo, problems, complete=not self._stop.is_set())
        pending = 0 if between else work.pending_notes(self._index)
        report = self._report(todo, problems, tally, pending)
        model = self._embedder.identity.key
        generation = self._books.remember(report, todo, model, self._clock())
        self._index.catch_up()
        if not between:
            self._save_when_due(generation, progress)
        progress(Progress("done", 1, 1))
        return report, len(todo.kept)

    def _make_vectors(
        self, intake: Intake, progress: Watch, only: Collection[str] | None, *, last: bool
    ) -> Tally | None:
        """Give notes their vectors; a model that is to be replaced may fail at it, once a run."""
        if self._failed is self._embedder:
            return None
        try:
            return intake.take_vectors(progress, only, last=last)
        except ModelError as error:
            if self._embedder is self._lineup.wanted:
                raise
            # Else nobody could leave a server that is gone while a note waits for its vector.
            _log.warning("the embedder that is being replaced failed: %s", error.sentence)
            self._failed = self._embedder
            return None

    def _between_batches(self) -> bool:
        """Take in what was edited while vectors are made; true when the run is to end."""
        if not self._index.stands():
            self._stop.set()  # what is written now, nobody will ever read
        if not self._stop.is_set() and (paths := self._noticed()):
            # Vectors of these notes only: the others wait for the run that is under way.
            before, self._noticed = self._noticed, _nothing
            self._run(False, False, paths, _silent, between=True)
            self._noticed = before
        return self._stop.is_set()

    def refetch(self, path: str) -> None:
        """Read, project and embed one note again in place, whatever failed before."""
        self._index.vault.require()
        if not self._index.stands():
            raise IndexMissing(
                "The index is made anew.", hint="Try again in a moment.", code="index_warming"
            )
        seen = self._index.vault.fingerprint(path)
        if seen is None:
            raise NotFound(f"The note {path} is not in the vault.")
        self._embedder = self._lineup.serving(self._index.model())
        self._adopt(self._embedder.identity)
        self._intake().take_again(path, seen)
        self._index.catch_up()

    def _intake(self) -> Intake:
        return Intake(
            self._index, self._embedder, self._ages, self._stop.is_set, self._between_batches
        )

    def renamed(self) -> set[str]:
        """Notes whose vectors still know an older file name that was their title."""
        return queries.renamed(self._database.read())

    def _adopt(self, identity: ModelIdentity) -> bool:
        """Settle which model and projection the index is for; true when notes must be reread."""
        again, other = versions.adopt(self._database, identity, self._clock())
        if other:
            self._lineup.chose(identity)
        return again

    def _report(
        self, todo: Work, problems: list[Problem], tally: Tally | None, pending: int
    ) -> SyncReport:
        found = self._database.read().execute("SELECT COUNT(DISTINCT path) FROM problems")
        return SyncReport(
            seen=len(todo.scan.files),
            added=len(todo.changes.added),
            changed=len(todo.changes.changed),
            moved=len(todo.changes.moved),
            removed=len(todo.changes.removed),
            unchanged=todo.unchanged,
            embedded=tally.embedded if tally else 0,
            failed=tally.failed if tally else 0,
            pending=pending,
            renamed=len(self.renamed()),
            with_problems=int(found.fetchone()[0]),
            problems=tuple(problems),
            complete=not self._stop.is_set(),
        )

    def _save_when_due(self, generation: int, progress: Watch) -> None:
        """Put the graph on disk when it has grown or changed enough to be worth it."""
        state, identity = self._index.settings.state, self._embedder.identity
        if save_is_due(self._database.read(), state, identity):
            progress(Progress("save", 0, 1))
            self._index.graphs.save(identity, generation)


__all__ = ["Syncer", "check", "verify"]
