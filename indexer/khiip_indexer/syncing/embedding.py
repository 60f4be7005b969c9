"""Gives every passage its vector: first vectors of the newest notes first, a few at a time.

One transaction's worth is as many texts as the embedder is best given at once: for a model on
this machine as few as keep a stop, an edit or a reader waiting for a quarter of a second at most.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from khiip_indexer.embedding.lineup import Patient, Stopped, batch_of, passage_vectors
from khiip_indexer.errors import KhiipError
from khiip_indexer.records import Phase, SyncReport
from khiip_indexer.storage.database import Database
from khiip_indexer.storage.queries import MAX_ATTEMPTS, failed_notes
from khiip_indexer.store import put_failure, put_vectors, replace_problems
from khiip_indexer.types import Problem

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder

_log = logging.getLogger(__name__)

Report = Callable[[Phase, int, int], None]
# So many refused texts in a row, and none taken: is it still the texts?
_REFUSED_IN_A_ROW = 16
Put = Callable[[sqlite3.Connection, str, Sequence[tuple[bytes, bytes]]], None]


@dataclass(slots=True)
class Tally:
    """What one run of the model came to, in texts, and the notes that it met problems with."""

    embedded: int = 0
    failed: int = 0
    problems: list[Problem] = field(default_factory=list)

    def added_to(self, report: SyncReport) -> SyncReport:
        """The report with these texts as well."""
        return replace(
            report,
            embedded=report.embedded + self.embedded,
            failed=report.failed + self.failed,
            problems=tuple(dict.fromkeys((*report.problems, *self.problems))),
        )


@dataclass(frozen=True, slots=True)
class Place:
    """The table that texts are taken from, and how their vectors are stored."""

    table: Literal["passages", "coming"]
    put: Put


PASSAGES = Place("passages", put_vectors)


@dataclass(slots=True)
class _Found:
    """What a batch came to so far: vectors by key, and reasons by the key of a failed text.

    Of the `doubtful` nobody knows whether it was the text.
    """

    done: list[tuple[bytes, bytes]] = field(default_factory=list)
    failed: list[tuple[bytes, str]] = field(default_factory=list)
    doubtful: list[tuple[bytes, str]] = field(default_factory=list)


def _never() -> bool:
    return False


class EmbeddingPhase:
    """Embeds what has no vector yet; a text that fails is set aside, the rest goes on.

    `stopped` is asked between batches and may take in edits meanwhile; `halted` only tells whether
    the run is to end, and is asked while a server is waited for.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        stopped: Callable[[], bool],
        halted: Callable[[], bool] = _never,
        place: Place = PASSAGES,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._model = embedder.identity.key
        self._stopped = stopped
        self._halted = halted
        self._refused = 0
        self._put = place.put
        self._table = place.table
        self._batch = batch_of(embedder)
        self.tally = Tally()

    def run(self, report: Report, *, paths: Collection[str] | None = None) -> None:
        """Embed first vectors, then other passages; `paths` limits it to these notes."""
        self.embed(report, paths=paths)
        with self._database.write() as connection:
            replace_problems(connection, "embedding", failed_notes(connection, self._model))

    def embed(self, report: Report, *, paths: Collection[str] | None = None) -> None:
        """The same, without telling of the notes that have a text without a vector."""
        for phase, condition in (("first_vectors", "p.ordinal = 0"), ("passages", "p.ordinal > 0")):
            self._embed(phase, self._pending(condition, paths), report)  # type: ignore[arg-type]

    def _pending(self, condition: str, paths: Collection[str] | None) -> list[tuple[int, bytes]]:
        """(passage, key) of each text without a vector, those of the newest notes first.

        What failed before comes last: it must not end a run before the others had their turn.
        """
        rows = self._database.read().execute(
            f"SELECT p.passage, p.key FROM {self._table} p JOIN captures c ON c.row = p.row "  # noqa: S608
            "LEFT JOIN vectors v ON v.model = ?1 AND v.key = p.key "
            "LEFT JOIN failures f ON f.model = ?1 AND f.key = p.key "
            f"WHERE v.label IS NULL AND {condition} "
            f"{'' if paths is None else 'AND c.path IN (SELECT value FROM json_each(?3)) '}"
            "AND COALESCE(f.attempts, 0) < ?2 "
            "ORDER BY COALESCE(f.attempts, 0), c.modified_at DESC, p.row, p.ordinal",
            (self._model, MAX_ATTEMPTS, *(() if paths is None else (json.dumps(list(paths)),))),
        )
        first: dict[bytes, int] = {}
        for passage, key in rows:
            first.setdefault(key, passage)
        return [(passage, key) for key, passage in first.items()]

    def _embed(self, phase: Phase, pending: list[tuple[int, bytes]], report: Report) -> None:
        for start in range(0, len(pending), self._batch):
            if self._stopped():
                return
            report(phase, start, len(pending))
            self._embed_batch(pending[start : start + self._batch])
        report(phase, len(pending), len(pending))

    def _embed_batch(self, batch: Sequence[tuple[int, bytes]]) -> None:
        # An edit taken in between batches may have given a passage's number to another text.
        stored = _texts(self._database.read(), self._table, [passage for passage, _ in batch])
        texts = (stored.get(passage, (b"", "")) for passage, _ in batch)
        known = [pair for pair, (_, key) in zip(texts, batch, strict=True) if pair[0] == key]
        found = _Found()
        try:
            self._embed_texts(known, found)
        except KhiipError:
            self._keep(found)  # failures too, so that the next run goes past them
            raise
        except Stopped:
            pass  # the run ends with its next look
        self._keep(found)

    def _keep(self, found: _Found) -> None:
        """Store what a batch came to; a doubtful text keeps its last try."""
        with self._database.write() as connection:
            self._put(connection, self._model, found.done)
            for key, reason in found.failed:
                put_failure(connection, self._model, key, reason)
            for key, reason in found.doubtful:
                if _attempts(connection, self._model, key) + 1 < MAX_ATTEMPTS:
                    put_failure(connection, self._model, key, reason)
        self.tally.embedded += len(found.done)
        self.tally.failed += len(found.failed)

    def _embed_texts(self, texts: Sequence[tuple[bytes, str]], found: _Found) -> None:
        """Add to `found`; a batch that fails is halved until the text at fault stands alone."""
        if not texts:
            return
        try:
            vectors = passage_vectors(self._embedder, [text for _, text in texts], self._halted)
        except (KhiipError, Stopped):
            raise  # the model itself is missing or damaged: no text is to blame
        except Exception as error:  # noqa: BLE001 -- whatever a native library raises for a text
            if len(texts) == 1:
                self._set_aside(texts[0][0], error, found)
                return
            middle = len(texts) // 2
            self._embed_texts(texts[:middle], found)
            self._embed_texts(texts[middle:], found)
            return
        self._refused = 0
        pairs = zip(texts, vectors, strict=True)
        found.done.extend((key, row.tobytes()) for (key, _), row in pairs)

    def _set_aside(self, key: bytes, error: Exception, found: _Found) -> None:
        """A text that failed alone; the first in a row may mean that the server takes nothing."""
        first = not (self.tally.failed or found.failed)  # the others are told as a number
        level = logging.WARNING if first else logging.DEBUG
        _log.log(level, "a text could not be embedded: %s", type(error).__name__)
        failure = (key, f"{type(error).__name__}: {error}")
        if self._refused % _REFUSED_IN_A_ROW == 0 and isinstance(self._embedder, Patient):
            found.doubtful = [failure]
            self._embedder.prove(self._halted)
            found.doubtful = []
        found.failed.append(failure)
        self._refused += 1


def _attempts(connection: sqlite3.Connection, model: str, key: bytes) -> int:
    row = connection.execute(
        "SELECT attempts FROM failures WHERE model = ? AND key = ?", (model, key)
    ).fetchone()
    return int(row[0]) if row else 0


def _texts(
    connection: sqlite3.Connection, table: str, passages: Sequence[int]
) -> dict[int, tuple[bytes, str]]:
    marks = ", ".join("?" * len(passages))
    rows = connection.execute(
        f"SELECT passage, key, text FROM {table} WHERE passage IN ({marks})",  # noqa: S608
        passages,
    )
    return {passage: (key, text) for passage, key, text in rows}
