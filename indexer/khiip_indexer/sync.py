"""Brings an index up to date with its vault: plan, text, vectors, graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from khiip_indexer import store
from khiip_indexer.disk.ages import Ages
from khiip_indexer.embedding.lineup import Lineup
from khiip_indexer.embedding.nothing import is_none
from khiip_indexer.errors import NotFound, StorageError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Phase, Progress, SyncReport
from khiip_indexer.storage import queries
from khiip_indexer.storage.database import translated
from khiip_indexer.storage.vector_log import save_is_due
from khiip_indexer.syncing import versions, work
from khiip_indexer.syncing.bookkeeping import Bookkeeping
from khiip_indexer.syncing.integrity import mend_words, verify
from khiip_indexer.syncing.plan import Lately
from khiip_indexer.syncing.work import Work, check
from khiip_indexer.types import Fingerprint, ModelIdentity, Problem

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.syncing.embedding import Tally
    from khiip_indexer.syncing.text_phase import TextPhase

Watch = Callable[[Progress], None]
Noticed = Callable[[], Collection[str]]
T = TypeVar("T")

_GIANT_BYTES = 1024 * 1024


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
        self._lately = Lately()
        self._books = Bookkeeping(index)
        self._balked = False

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
        started = time.monotonic()
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
        backfill = Backfill(self._index, wanted, self._between_batches, self._clock)
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
        if reread_all or self._more_has_changed():
            paths = None
        backlog = self._index.meta("pending") is not None
        todo = self._plan(paths, reread_all, accept_deletions, progress)
        problems = self._take_text(todo, progress)
        if full:
            mend_words(self._index)
        only = todo.to_read if between or (todo.scan.under is not None and not backlog) else None
        tally = self._take_vectors(progress, only, last=not between)
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

    def _more_has_changed(self) -> bool:
        """Whether only a look at the whole vault tells what to do."""
        return (
            int(self._index.meta("suspect") or 0) > 0
            or self._index.meta("chains") is not None
            or self._index.vault.rules_changed()
            or self._ages.moved()
        )

    def _between_batches(self) -> bool:
        """Take in what was edited while vectors are made; true when the run is to end."""
        if not self._stop.is_set() and (paths := self._noticed()):
            # Vectors of these notes only: the others wait for the run that is under way.
            before, self._noticed = self._noticed, _nothing
            self._run(False, False, paths, _silent, between=True)
            self._noticed = before
        return self._stop.is_set()

    def refetch(self, path: str) -> None:
        """Read, project and embed one note again in place, whatever failed before."""
        seen = self._index.vault.fingerprint(path)
        if seen is None:
            raise NotFound(f"The note {path} is not in the vault.")
        self._embedder = self._lineup.serving(self._index.model())
        self._adopt(self._embedder.identity)
        with self._database.write() as connection:
            store.forget_failures(connection, self._embedder.identity.key, path)
        self._text_phase().run([(path, seen)], [], [], lambda *_: True)
        self._embed(lambda *_: None, (path,))
        self._index.catch_up()

    def _adopt(self, identity: ModelIdentity) -> bool:
        """Settle which model and projection the index is for; true when notes must be reread."""
        again, other = versions.adopt(self._database, identity, self._clock())
        if other:
            self._lineup.chose(identity)
        return again

    def _plan(
        self,
        paths: Collection[str] | None,
        reread_all: bool,
        accept_deletions: bool,
        progress: Watch,
    ) -> Work:
        progress(Progress("scan", 0, 0))
        todo = self._with_reread(work.plan_work(self._index, paths), reread_all)
        if not accept_deletions:
            todo = todo.braked(self._lately.count(self._clock()))
            self._lately.add(self._clock(), len(todo.changes.removed))
        return todo

    def _with_reread(self, todo: Work, reread_all: bool) -> Work:
        touched, seen = todo.changes.touched, todo.scan.files
        again = self._ages.dated_by_file(self._database.read(), touched, seen)
        again |= queries.misread(self._database.read())
        if todo.scan.under is None:
            with self._database.write() as connection:
                again |= self._ages.refresh(connection)
            again |= queries.renamed(self._database.read())
        if not reread_all and not again:
            return todo
        return todo.rereading(None if reread_all else again)

    def _take_text(self, todo: Work, progress: Watch) -> list[Problem]:
        changes, seen = todo.changes, todo.scan.files
        # One that is read again has its new time only then: a kill in between must not hide it.
        if touched := set(changes.touched).difference(todo.reread):
            with self._database.write() as connection:
                for path in touched:
                    store.touch(connection, path, seen[path])
        if not todo.touches_text and store.get_meta(self._database.read(), "chains") is None:
            return []
        self._ages.look_for_edits(todo.texts if todo.scan.under is not None else None)
        files = sorted(((path, seen[path]) for path in todo.to_read), key=_reading_order)

        def watch(done: int, total: int, path: str | None) -> bool:
            progress(Progress("read", done, total, path))
            return not self._stop.is_set()

        moved = [(old, new, seen[new]) for old, new in changes.moved]
        problems = self._text_phase().run(files, moved, changes.removed, watch)
        if todo.scan.under is None and not self._stop.is_set():
            with self._database.write() as connection:
                store.drop_meta(connection, "reread")
        return problems

    def _text_phase(self) -> TextPhase:
        from khiip_indexer.syncing.projection import Window
        from khiip_indexer.syncing.text_phase import TextPhase

        window = Window(self._embedder.spans, self._embedder.identity.window)
        return TextPhase(self._index, self._embedder.identity.key, window, self._ages)

    def _take_vectors(
        self, progress: Watch, only: Collection[str] | None, *, last: bool
    ) -> Tally | None:
        """Make what vectors are missing, of these notes or of all."""
        if store.get_meta(self._database.read(), "pending") is None or self._stop.is_set():
            return None
        if is_none(self._embedder.identity.key):
            with self._database.write() as connection:
                store.drop_meta(connection, "pending")
            return None

        def report(phase: Phase, done: int, total: int) -> None:
            progress(Progress(phase, done, total))

        tally = self._embed(report, only)
        # Counting what is left takes a look at every passage: not after each small edit.
        whole = only is not None and not tally.failed and not self._stop.is_set()
        if last and (whole or work.pending_notes(self._index) == 0):
            with self._database.write() as connection:
                store.drop_meta(connection, "pending")
        return tally

    def _embed(
        self, report: Callable[[Phase, int, int], None], paths: Collection[str] | None
    ) -> Tally:
        from khiip_indexer.syncing.embedding import EmbeddingPhase

        phase = EmbeddingPhase(self._database, self._embedder, self._between_batches)
        phase.run(report, paths=paths)
        return phase.tally

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
            renamed=len(queries.renamed(self._database.read())),
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


def _reading_order(file: tuple[str, Fingerprint]) -> tuple[bool, int]:
    """Newest first: what was written last is looked for first. Giants, seconds each, come last."""
    seen = file[1]
    return seen.size > _GIANT_BYTES, -seen.mtime_ns


__all__ = ["Syncer", "check", "verify"]
