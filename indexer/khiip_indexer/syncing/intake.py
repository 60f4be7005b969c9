"""Takes what a plan found into the index, for one embedder: text first, then vectors."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from khiip_indexer import store
from khiip_indexer.disk.ages import Ages
from khiip_indexer.embedding.nothing import is_none
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Phase, Progress
from khiip_indexer.syncing import work
from khiip_indexer.syncing.work import Work
from khiip_indexer.types import Fingerprint, Problem

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.syncing.embedding import Tally
    from khiip_indexer.syncing.text_phase import TextPhase

Watch = Callable[[Progress], None]

_GIANT_BYTES = 1024 * 1024


class Intake:
    """What one round writes.

    `stopped` tells whether the run is to end; `between` is asked between two batches of vectors,
    may take in edits meanwhile, and tells the same.
    """

    def __init__(
        self,
        index: VaultIndex,
        embedder: Embedder,
        ages: Ages,
        stopped: Callable[[], bool],
        between: Callable[[], bool],
    ) -> None:
        self._index = index
        self._database = index.database
        self._embedder = embedder
        self._ages = ages
        self._stopped = stopped
        self._between = between

    def take_text(self, todo: Work, progress: Watch) -> list[Problem]:
        """Make every note of the plan findable by its words; what was wrong with them."""
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
            return not self._stopped()

        moved = [(old, new, seen[new]) for old, new in changes.moved]
        problems = self._text_phase().run(files, moved, changes.removed, watch)
        if todo.scan.under is None and not self._stopped():
            with self._database.write() as connection:
                store.drop_meta(connection, "reread")
        return problems

    def _text_phase(self) -> TextPhase:
        from khiip_indexer.syncing.projection import Window
        from khiip_indexer.syncing.text_phase import TextPhase

        window = Window(self._embedder.spans, self._embedder.identity.window)
        return TextPhase(self._index, self._embedder.identity.key, window, self._ages)

    def take_vectors(
        self, progress: Watch, only: Collection[str] | None, *, last: bool
    ) -> Tally | None:
        """Make what vectors are missing, of these notes or of all."""
        if store.get_meta(self._database.read(), "pending") is None or self._stopped():
            return None
        if is_none(self._embedder.identity.key):
            with self._database.write() as connection:
                store.drop_meta(connection, "pending")
            return None

        def report(phase: Phase, done: int, total: int) -> None:
            progress(Progress(phase, done, total))

        tally = self._embed(report, only)
        # Counting what is left takes a look at every passage: not after each small edit.
        whole = only is not None and not tally.failed and not self._stopped()
        if last and (whole or work.pending_notes(self._index) == 0):
            with self._database.write() as connection:
                store.drop_meta(connection, "pending")
        return tally

    def _embed(
        self, report: Callable[[Phase, int, int], None], paths: Collection[str] | None
    ) -> Tally:
        from khiip_indexer.syncing.embedding import EmbeddingPhase

        phase = EmbeddingPhase(self._database, self._embedder, self._between, halted=self._stopped)
        phase.run(report, paths=paths)
        return phase.tally

    def take_again(self, path: str, seen: Fingerprint) -> None:
        """Read, project and embed one note in its place, whatever failed before.

        Raises NotFound or VaultError where it cannot be read, and leaves it as it was.
        """
        self._index.vault.read(path)
        with self._database.write() as connection:
            store.forget_failures(connection, self._embedder.identity.key, path)
        self._text_phase().run([(path, seen)], [], [], lambda *_: True)
        self._embed(lambda *_: None, (path,))


def _reading_order(file: tuple[str, Fingerprint]) -> tuple[bool, int]:
    """Newest first: what was written last is looked for first. Giants, seconds each, come last."""
    seen = file[1]
    return seen.size > _GIANT_BYTES, -seen.mtime_ns
