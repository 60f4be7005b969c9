"""Brings an index up to date with its vault: plan, text, vectors, graph."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from khiip_indexer import store
from khiip_indexer.disk.ages import Ages
from khiip_indexer.errors import NotFound
from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Phase, Progress, SyncReport
from khiip_indexer.storage import queries
from khiip_indexer.storage.database import translated
from khiip_indexer.storage.pruning import prune
from khiip_indexer.storage.vector_log import save_is_due
from khiip_indexer.syncing import versions, work
from khiip_indexer.syncing.integrity import verify
from khiip_indexer.syncing.work import Work, check
from khiip_indexer.types import Fingerprint, ModelIdentity, Problem

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.syncing.embedding import Tally
    from khiip_indexer.syncing.text_phase import TextPhase

Watch = Callable[[Progress], None]

_GIANT_BYTES = 1024 * 1024


def _now() -> datetime:
    return datetime.now(UTC)


def _silent(_: Progress) -> None:
    return None


class Syncer:
    """The one writer of an index; one `run` at a time, `stop` from any thread."""

    def __init__(
        self, index: VaultIndex, embedder: Embedder, clock: Callable[[], datetime] = _now
    ) -> None:
        self._index = index
        self._database = index.database
        self._embedder = embedder
        self._clock = clock
        self._ages = Ages(index.settings.vault)
        self._stop = threading.Event()

    def stop(self) -> None:
        """Let a run in another thread end after its current batch."""
        self._stop.set()

    def run(
        self,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        progress: Watch = _silent,
    ) -> SyncReport:
        """Take in every change of the vault; `full` reads every note again.

        Raises DeletionBrake at the end, everything else done, when most notes are gone and
        `accept_deletions` is not set.
        """
        self._stop.clear()
        started = time.monotonic()
        with translated(self._database.path):
            report, kept = self._run(full, accept_deletions, progress)
        if kept:
            raise work.brake(kept)
        return replace(report, seconds=time.monotonic() - started)

    def _run(self, full: bool, accept_deletions: bool, progress: Watch) -> tuple[SyncReport, int]:
        reread_all = self._adopt(self._embedder.identity) or full
        todo = self._plan(reread_all, accept_deletions, progress)
        problems = self._take_text(todo, progress)
        tally = self._take_vectors(progress)
        report = self._report(todo, problems, tally)
        self._finish(report, todo, progress)
        return report, len(todo.kept)

    def refetch(self, path: str) -> None:
        """Read, project and embed one note again in place, whatever failed before."""
        seen = self._index.vault.fingerprint(path)
        if seen is None:
            raise NotFound(f"The note {path} is not in the vault.")
        self._adopt(self._embedder.identity)
        with self._database.write() as connection:
            store.forget_failures(connection, self._embedder.identity.key, path)
        self._text_phase().run([(path, seen)], [], [], lambda *_: True)
        self._embed(lambda *_: None, path)
        self._index.catch_up()

    def _adopt(self, identity: ModelIdentity) -> bool:
        """Settle which model and projection the index is for; true when notes must be reread."""
        wanted = versions.makers(identity)
        connection = self._database.read()
        if all(store.get_meta(connection, key) == value for key, value in wanted.items()):
            return store.get_meta(connection, "reread") is not None
        with self._database.write() as writer:
            store.vault_id(writer)
            # Remembered until it is done, so that an interrupted run goes on with it.
            for key, value in {**wanted, "reread": "all", "pending": "yes"}.items():
                store.put_meta(writer, key, value)
        return True

    def _plan(self, reread_all: bool, accept_deletions: bool, progress: Watch) -> Work:
        progress(Progress("scan", 0, 0))
        todo = work.plan_work(self._index)
        with self._database.write() as connection:
            again = self._ages.refresh(connection)
        again |= queries.renamed(self._database.read())
        if reread_all or again:
            todo = todo.rereading(None if reread_all else again)
        return todo if accept_deletions else todo.braked()

    def _take_text(self, todo: Work, progress: Watch) -> list[Problem]:
        changes, seen = todo.changes, todo.scan.files
        if changes.touched:
            with self._database.write() as connection:
                for path in changes.touched:
                    store.touch(connection, path, seen[path])
        if not todo.touches_text and store.get_meta(self._database.read(), "chains") is None:
            return []
        self._ages.look_for_edits()
        to_read = (*changes.changed, *changes.added, *todo.reread)
        files = sorted(((path, seen[path]) for path in to_read), key=_reading_order)

        def watch(done: int, total: int, path: str | None) -> bool:
            progress(Progress("read", done, total, path))
            return not self._stop.is_set()

        moved = [(old, new, seen[new]) for old, new in changes.moved]
        return self._text_phase().run(files, moved, changes.removed, watch)

    def _text_phase(self) -> TextPhase:
        from khiip_indexer.syncing.projection import Window
        from khiip_indexer.syncing.text_phase import TextPhase

        window = Window(self._embedder.spans, self._embedder.identity.window)
        return TextPhase(self._index, self._embedder.identity.key, window, self._ages)

    def _take_vectors(self, progress: Watch) -> Tally | None:
        if store.get_meta(self._database.read(), "pending") is None or self._stop.is_set():
            return None

        def report(phase: Phase, done: int, total: int) -> None:
            progress(Progress(phase, done, total))

        tally = self._embed(report)
        with self._database.write() as connection:
            if work.pending_notes(self._index) == 0:
                connection.execute("DELETE FROM meta WHERE key = 'pending'")
        return tally

    def _embed(self, report: Callable[[Phase, int, int], None], path: str | None = None) -> Tally:
        from khiip_indexer.syncing.embedding import EmbeddingPhase

        phase = EmbeddingPhase(self._database, self._embedder, self._stop.is_set)
        phase.run(report, path=path)
        return phase.tally

    def _report(self, todo: Work, problems: list[Problem], tally: Tally | None) -> SyncReport:
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
            pending=work.pending_notes(self._index),
            renamed=len(queries.renamed(self._database.read())),
            with_problems=int(found.fetchone()[0]),
            problems=tuple(problems),
            complete=not self._stop.is_set(),
        )

    def _finish(self, report: SyncReport, todo: Work, progress: Watch) -> None:
        """Remember that the vault was looked at, and put the graph on disk when it is due."""
        generation = self._remember(report, todo)
        self._index.tidy()
        self._index.catch_up()
        state, identity = self._index.settings.state, self._embedder.identity
        if save_is_due(self._database.read(), state, identity):
            progress(Progress("save", 0, 1))
            self._index.graphs.save(identity, generation)
        progress(Progress("done", 1, 1))

    def _remember(self, report: SyncReport, todo: Work) -> int:
        with self._database.write() as connection:
            changed = report.behind + report.embedded > 0
            generation = int(store.get_meta(connection, "generation") or 0) + changed
            remembered = {
                "generation": str(generation),
                "suspect": str(len(todo.kept)),
            }
            if report.complete:
                remembered["last_reconcile"] = rfc3339(self._clock())
                remembered["indexed_at_ns"] = str(todo.scan.started_ns)
                connection.execute("DELETE FROM meta WHERE key = 'reread'")
            for key, value in remembered.items():
                store.put_meta(connection, key, value)
            store.replace_problems(connection, "vault", todo.scan.problems)
            if changed:
                prune(connection, self._embedder.identity.key, int(self._clock().timestamp()))
        return generation


def _reading_order(file: tuple[str, Fingerprint]) -> tuple[bool, int]:
    """Newest first: what was written last is looked for first. Giants, seconds each, come last."""
    seen = file[1]
    return seen.size > _GIANT_BYTES, -seen.mtime_ns


__all__ = ["Syncer", "check", "verify"]
