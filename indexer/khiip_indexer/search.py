"""Search by meaning: near labels are proposed, stored vectors decide, exact search is behind."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from khiip_indexer.graphs import GraphKeeper
from khiip_indexer.records import CaptureRecord, Filters, Hit, Ranking
from khiip_indexer.storage import queries
from khiip_indexer.types import ModelIdentity
from khiip_indexer.vectors import Graph, Matrix, Vector, cosines

# A capture may own many neighbouring vectors, so more labels are asked for than hits.
_LABELS_PER_HIT = 3
_LEAST_LABELS = 32
_MOST_LABELS = 4096
_PIECE = 4096
# Up to here a process that answers once reads every vector faster than it loads a graph.
_EXACT_IN_ONE_GO = 50_000

Best = dict[int, float]


@dataclass(frozen=True, slots=True)
class Meaning:
    """How near a capture is: cosine of its own vector (None without one) and of its best one."""

    own: float | None
    best: float


class Search:
    """One search over one connection; `run` may be called once or often."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        graphs: GraphKeeper,
        model: ModelIdentity,
        total: Callable[[Filters], int],
    ) -> None:
        self._connection = connection
        self._graphs = graphs
        self._model = model
        self._total = total

    def run(
        self,
        vector: Vector,
        filters: Filters,
        *,
        limit: int,
        offset: int,
        min_score: float | None,
    ) -> Ranking:
        """The page of captures whose best vector is nearest; one hit a capture."""
        wanted = offset + limit + 1
        best = self._nearest(vector, filters, wanted)
        if min_score is not None:
            best = {row: score for row, score in best.items() if score >= min_score}
        hits = self._hits(best, wanted)
        degraded = self._graphs.degraded
        return Ranking(
            hits=tuple(hits[offset : offset + limit]),
            total_candidates=self._total(filters),
            has_more=len(hits) > offset + limit,
            degraded=(degraded,) if degraded else (),
        )

    def near(self, record: CaptureRecord, filters: Filters, *, limit: int, offset: int) -> Ranking:
        """Captures near this one, itself and its chain left out."""
        blob = queries.vector_of_capture(self._connection, self._model.key, record.row)
        if blob is None:
            return Ranking((), 0, has_more=False, degraded=("not_embedded",))
        vector = np.frombuffer(blob, dtype=np.float32)
        chain = self._chain(record)
        found = self.run(
            vector, filters, limit=limit + offset + len(chain), offset=0, min_score=None
        )
        hits = [hit for hit in found.hits if hit.record.id not in chain]
        return replace(
            found,
            hits=tuple(hits[offset : offset + limit]),
            total_candidates=found.total_candidates - (len(found.hits) - len(hits)),
            has_more=found.has_more or len(hits) > offset + limit,
        )

    def _chain(self, record: CaptureRecord) -> set[str]:
        rows = self._connection.execute(
            "SELECT id FROM captures WHERE head_id = ?", (record.head_id,)
        )
        return {identity for (identity,) in rows} | {record.id}

    def meanings(
        self, vector: Vector, filters: Filters, pool: int, also: Collection[int] = ()
    ) -> dict[int, Meaning]:
        """By capture row: the nearest captures, about `pool`, and those of `also` with a vector.

        Fewer where long notes hold most of the nearest passages. What is only in `also` has no
        passage as near as theirs: its own vector stands for it.
        """
        own: Best = {}
        best = self._by_proposal(vector, filters, pool, enough=pool, own=own)
        if best is None:
            best = self._exactly(vector, filters)
        floor = min(heapq.nlargest(pool, best.values()), default=0.0)
        best = {row: score for row, score in best.items() if score >= floor}
        rows = best.keys() | set(also)
        unknown = [row for row in rows if row not in own]
        own |= _score(vector, queries.own_vectors(self._connection, self._model.key, unknown))
        return {
            row: Meaning(own.get(row), max(best.get(row, -1.0), own.get(row, -1.0)))
            for row in rows
            if row in best or row in own
        }

    def passage_cosines(self, vector: Vector, rows: Sequence[int]) -> dict[int, dict[int, float]]:
        """How near each passage of these captures is, by row and ordinal."""
        found = queries.passages_of_rows(self._connection, self._model.key, rows)
        if not found:
            return {}
        scores = cosines(vector, [blob for _, _, blob in found])
        nearness: dict[int, dict[int, float]] = {}
        for (row, ordinal, _), score in zip(found, scores, strict=True):
            nearness.setdefault(row, {})[ordinal] = float(score)
        return nearness

    def _nearest(self, vector: Vector, filters: Filters, wanted: int) -> Best:
        best = self._by_proposal(vector, filters, wanted)
        return self._exactly(vector, filters) if best is None else best

    def _by_proposal(
        self,
        vector: Vector,
        filters: Filters,
        wanted: int,
        *,
        enough: int | None = None,
        own: Best | None = None,
    ) -> Best | None:
        """Best score by capture row from the nearest labels; None where they cannot promise it.

        `wanted` captures, or fewer from `enough` passages; `own` takes the scores of embed texts.
        """
        near = self._near()
        if near is None:
            return None
        most = min(_MOST_LABELS, len(near) // 4) if isinstance(near, Graph) else _MOST_LABELS
        asked = max(_LEAST_LABELS, enough or wanted * _LABELS_PER_HIT)
        while asked <= most:
            labels = near.nearest(vector, asked)
            if labels is None:
                return None
            found = queries.vectors_of_labels(self._connection, labels, filters)
            best = _score(vector, found, own=own)
            if len(best) >= wanted or (enough is not None and len(found) >= enough):
                return best
            if asked >= len(near):
                return best  # exact, and these are all there are
            # Few of them pass the filters: ask for as many more as that share suggests.
            asked = max(asked * 2, asked * wanted * 2 // max(1, len(best)))
        return None

    def _near(self) -> Graph | Matrix | None:
        near = self._graphs.current(self._model)
        if near is None and self._is_large():
            self._graphs.load(self._model)
            near = self._graphs.current(self._model)
        return near

    def _is_large(self) -> bool:
        last = self._connection.execute("SELECT MAX(label) FROM vectors").fetchone()[0]
        return (last or 0) > _EXACT_IN_ONE_GO

    def _exactly(self, vector: Vector, filters: Filters) -> Best:
        best: Best = {}
        pieces = queries.vectors_of_filters(self._connection, self._model.key, filters, _PIECE)
        for piece in pieces:
            _score(vector, piece, best)
        return best

    def _hits(self, best: Best, wanted: int) -> list[Hit]:
        floor = min(heapq.nlargest(wanted, best.values()), default=0.0)
        rows = [row for row, score in best.items() if score >= floor]
        records = queries.by_rows(self._connection, rows)
        hits = [Hit(record, best[row]) for row, record in records.items()]
        hits.sort(key=lambda hit: hit.record.vault_path)
        hits.sort(key=lambda hit: hit.record.recorded_at, reverse=True)
        hits.sort(key=lambda hit: hit.score, reverse=True)
        return hits[:wanted]


def _score(
    vector: Vector,
    found: Iterable[queries.Numbered],
    best: Best | None = None,
    own: Best | None = None,
) -> Best:
    """Each capture row's best cosine; a capture is as near as its nearest passage.

    `own` takes the cosines of the captures' own vectors.
    """
    best = {} if best is None else best
    read = list(found)
    if not read:
        return best
    for (row, ordinal, _), score in zip(
        read, cosines(vector, [blob for _, _, blob in read]), strict=True
    ):
        value = float(score)
        if value > best.get(row, -2.0):
            best[row] = value
        if own is not None and ordinal == 0:
            own[row] = value
    return best
