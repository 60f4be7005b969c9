"""Has another model embed the vault while the former one's vectors answer; then switches."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from khiip_indexer import store
from khiip_indexer.disk.note_hash import content_hash
from khiip_indexer.errors import NotFound, VaultError
from khiip_indexer.index import VaultIndex
from khiip_indexer.passages import fit
from khiip_indexer.storage import coming
from khiip_indexer.storage.queries import failed_notes
from khiip_indexer.syncing import versions
from khiip_indexer.syncing.embedding import EmbeddingPhase, Place, Report, Tally
from khiip_indexer.syncing.projection import Window, passages_of
from khiip_indexer.types import Dates, NoteFile, Passage, Problem

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder

_log = logging.getLogger(__name__)

BATCH = 64
# Notes that are edited while others are cut or embedded are taken in; after so many rounds the
# rest is left to the next run.
_ROUNDS = 5
# A model that fails on more of the texts than one in so many does not take over.
_MOST_FAILED = 10


class Backfill:
    """One run of it; may be stopped or killed at any step, and is gone on with by the next.

    `stopped` is asked between batches, and may take in edits meanwhile; `halted` only tells
    whether the run is to end.
    """

    def __init__(
        self,
        index: VaultIndex,
        embedder: Embedder,
        stopped: Callable[[], bool],
        clock: Callable[[], datetime],
        halted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._index = index
        self._halted = halted
        self._database = index.database
        self._embedder = embedder
        self._identity = embedder.identity
        self._stopped = stopped
        self._clock = clock
        self.tally = Tally()

    def run(self, report: Report) -> bool:
        """Cut and embed what is left to do; true when the other model has taken over."""
        cut_by = versions.makers(self._identity)["projection"]
        with self._database.write() as connection:
            coming.begin(connection, self._identity, cut_by, self._now())
        for _ in range(_ROUNDS):
            if not self._cut(report) or not self._embed(report):
                return False
            if self._take_over():
                return True
        return False

    def _now(self) -> int:
        return int(self._clock().timestamp())

    def _cut(self, report: Report) -> bool:
        """See every note as the other model does; false when stopped."""
        left = coming.uncut(self._database.read())
        for start in range(0, len(left), BATCH):
            if self._stopped():
                return False
            report("read", start, len(left))
            cut = [(note[:3], self._passages(note)) for note in left[start : start + BATCH]]
            with self._database.write() as connection:
                for note, passages in cut:
                    if isinstance(passages, Problem):
                        self._put_stored(connection, note, passages)
                    elif passages is not None:
                        coming.put(connection, note, passages)
        return True

    def _put_stored(
        self, connection: sqlite3.Connection, note: tuple[int, str, bytes], problem: Problem
    ) -> None:
        """See a note that cannot be read just now as it is stored; with the problem it is a note
        that the next run reads again, and then as the other model does."""
        coming.put(connection, note, self._stored(note[0]))
        store.put_problems(connection, note[1], "file", [problem])
        self.tally.problems.append(problem)

    def _passages(self, note: coming.Uncut) -> Sequence[Passage] | Problem | None:
        """The passages of one note; None when an edit or deletion waits to be taken in."""
        _, path, known = note[:3]
        window = Window(self._embedder.spans, self._identity.window)
        try:
            raw, _ = self._index.vault.read(path)
        except NotFound:
            return None
        except VaultError as error:
            return Problem(path, error.code, error.sentence, hint=error.hint)
        if content_hash(raw) != known:
            return None
        from khiip_indexer import payloads
        from khiip_indexer.captures import read_capture

        dates = Dates(datetime.fromtimestamp(note[4] / 1e9, UTC))
        capture = read_capture(NoteFile(path, raw, dates), self._index.settings.vault_name)
        return passages_of(capture, window, payloads.segments(capture))

    def _stored(self, row: int) -> Sequence[Passage]:
        """What is known of a note, each passage as far as it fits."""
        window = Window(self._embedder.spans, self._identity.window)
        rows = self._database.read().execute(
            "SELECT ordinal, text, heading, line FROM passages WHERE row = ? ORDER BY ordinal",
            (row,),
        )
        return [
            Passage(ordinal, fit(text, window.spans, window.size)[0], heading, line)
            for ordinal, text, heading, line in rows
        ]

    def _embed(self, report: Report) -> bool:
        """Embed every text that has no vector yet; false when stopped."""
        place = Place("coming", partial(coming.put_waiting, now=self._now()))
        phase = EmbeddingPhase(self._database, self._embedder, self._stopped, self._halted, place)
        phase.embed(report)
        self.tally.embedded += phase.tally.embedded
        self.tally.failed += phase.tally.failed
        return not self._stopped()

    def _take_over(self) -> bool:
        """Switch, if nothing is left to do at this very moment."""
        key = self._identity.key
        with self._database.write() as connection:
            untried, failed = coming.lacking(connection, key)
            if untried or coming.uncut(connection):
                return False
            every = coming.progress(connection, key)[1]
            if failed * _MOST_FAILED > every:
                _log.warning("%d of %d texts failed; the former model goes on", failed, every)
                return False
            coming.take_over(connection, versions.makers(self._identity), self._now())
            generation = int(store.get_meta(connection, "generation") or 0)
            store.put_meta(connection, "generation", str(generation + 1))
            if failed:
                store.put_meta(connection, "pending", "yes")
            else:
                store.drop_meta(connection, "pending")
            store.replace_problems(connection, "embedding", failed_notes(connection, key))
        return True
