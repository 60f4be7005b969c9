"""Who may be a hit: captures near in meaning and captures that hold the words, pool by pool."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_indexer.errors import StorageError
from khiip_indexer.records import CaptureRecord, Filters, Ranking
from khiip_sidecar.ranking.context import with_context
from khiip_sidecar.ranking.fusion import Signals

if TYPE_CHECKING:
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.lexical.search import LexicalHit
    from khiip_indexer.lexical.terms import Terms
    from khiip_indexer.vectors import Vector

_log = logging.getLogger(__name__)

# So many of each kind are looked at first.
POOL = 64


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: by meaning where there is a vector, by words where there are any.

    `words` are a query's terms or a MATCH expression of FTS5; `words_weight` is the part that
    they have in the relevance of both.
    """

    vector: Vector | None = None
    words: Terms | str | None = None
    words_weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A capture that may be a hit; `relevance` in [0, 1] is that of the chosen match."""

    record: CaptureRecord
    signals: Signals
    score: float

    @property
    def relevance(self) -> float:
        """The score, where it enters a formula."""
        return min(1.0, max(0.0, self.score))


@dataclass(frozen=True, slots=True)
class Scored:
    """A capture by its row, before anybody asks what it is."""

    row: int
    signals: Signals
    score: float


class Pools:
    """Everything that may be a hit, by row, pool after pool: the best of each kind first.

    Each pool holds what is new among twice as many as before, and what is in one fits better in
    meaning or in words than all of the next. A cosine below `floor` is no better than chance;
    `degraded` names what could not be searched, `total` counts what the filters let in.
    """

    def __init__(self, index: VaultIndex, query: Query, filters: Filters, floor: float) -> None:
        self._index = index
        self._query = query
        self._filters = filters
        self._floor = floor
        self._size = POOL
        self.degraded: tuple[str, ...] = ()
        self.total = index.total(filters)

    def __iter__(self) -> Iterator[dict[int, Signals]]:
        seen: set[int] = set()
        while True:
            pool = self._gather()
            yield {row: each for row, each in pool.items() if row not in seen}
            seen.update(pool)
            if self._size >= self.total:
                return
            self._size *= 2

    def _gather(self) -> dict[int, Signals]:
        words = self._words()
        forms = self._index.finder.forms()
        if self._query.vector is None:
            return {row: Signals(words=hit, form=forms.get(row, "")) for row, hit in words.items()}
        near = self._index.finder.meanings(
            self._query.vector, self._filters, self._size, also=list(words)
        )
        found = {
            row: Signals(near.get(row), words.get(row), form=forms.get(row, ""))
            for row in near | words
        }
        return self._in_context(found) if self._query.words is not None else found

    def _in_context(self, found: dict[int, Signals]) -> dict[int, Signals]:
        threads = self._index.threads()
        if not threads:
            return found
        more = threads.touched(found) - found.keys()
        more = self._index.finder.allowed(more, self._filters)
        signals = found | {row: Signals() for row in more}
        return with_context(signals, threads, self._query.words_weight, self._floor)

    def _words(self) -> dict[int, LexicalHit]:
        if self._query.words is None:
            return {}
        try:
            return self._index.finder.words(self._query.words, self._filters, self._size)
        except StorageError as error:
            if self._query.vector is None:
                raise
            _log.warning("the words could not be searched: %s", error)
            self.degraded = ("text_search_failed",)
            return {}


class Nearest:
    """All captures in the order that the index itself knows, however long it is.

    `ask` gives so many from an offset on. `degraded` and `total` are as of its last answer.
    """

    def __init__(self, ask: Callable[[int, int], Ranking]) -> None:
        self._ask = ask
        self.degraded: tuple[str, ...] = ()
        self.total = 0

    def fetch(self, limit: int, offset: int) -> list[Candidate]:
        """The candidates from `offset` on; fewer than `limit` where there are no more."""
        found = self._ask(limit, offset)
        self.degraded, self.total = found.degraded, found.total_candidates
        return [
            Candidate(hit.record, Signals.of_cosine(hit.score), hit.score) for hit in found.hits
        ]
