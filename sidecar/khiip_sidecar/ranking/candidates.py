"""Who may be a hit: captures near in meaning and captures that hold the words, pool by pool."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from khiip_indexer.errors import StorageError
from khiip_indexer.records import CaptureRecord, Filters, Ranking
from khiip_sidecar.ranking.fusion import Signals

if TYPE_CHECKING:
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.lexical.search import LexicalHit
    from khiip_indexer.lexical.terms import Terms
    from khiip_indexer.vectors import Vector

_log = logging.getLogger(__name__)

# Of each kind so many are weighed against each other; who comes behind them follows behind.
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


class Run(Protocol):
    """One pool in its order."""

    def first(self, count: int) -> list[Candidate]:
        """The first so many, or all where there are fewer."""
        ...


Arrange = Callable[[dict[int, Signals]], Run]


class Pools:
    """All captures that fit, best first, as far as anybody reads on.

    The first pool holds the best of each kind, each later one twice as many as were before it;
    `arrange` puts one pool in order. So the order is the same however it is paged, and a page
    costs no more than the pools it lies in. `degraded` names what could not be searched.
    """

    def __init__(self, index: VaultIndex, query: Query, filters: Filters, arrange: Arrange) -> None:
        self._index = index
        self._query = query
        self._filters = filters
        self._arrange = arrange
        self._seen: set[int] = set()
        self._runs: list[Run] = []
        self._pool = POOL
        self._ended = False
        self.degraded: tuple[str, ...] = ()

    def fetch(self, limit: int, offset: int) -> list[Candidate]:
        """The candidates from `offset` on; fewer than `limit` where there are no more."""
        found: list[Candidate] = []
        at = 0
        while len(found) < offset + limit:
            if at == len(self._runs) and not self._grow():
                break
            found += self._runs[at].first(offset + limit - len(found))
            at += 1
        return found[offset:]

    def _grow(self) -> bool:
        """Take in one more pool, if there is any."""
        while not self._ended:
            signals = self._gather()
            fresh = {row: each for row, each in signals.items() if row not in self._seen}
            # Long notes may hold all of the nearest passages: no new capture is not yet the end.
            self._ended = not fresh and self._pool >= self._index.total(self._filters)
            self._seen.update(fresh)
            self._pool *= 2
            if fresh:
                self._runs.append(self._arrange(fresh))
                return True
        return False

    def _gather(self) -> dict[int, Signals]:
        query, index = self._query, self._index
        words = self._words()
        near = {}
        if query.vector is not None:
            near = index.finder.meanings(query.vector, self._filters, self._pool, also=list(words))
        return {row: Signals(near.get(row), words.get(row)) for row in near | words}

    def _words(self) -> dict[int, LexicalHit]:
        if self._query.words is None:
            return {}
        try:
            return self._index.finder.words(self._query.words, self._filters, self._pool)
        except StorageError as error:
            if self._query.vector is None:
                raise
            _log.warning("the words could not be searched: %s", error)
            self.degraded = ("text_search_failed",)
            return {}


class Nearest:
    """All captures by cosine alone: their order the index itself knows, however long it is."""

    def __init__(
        self, index: VaultIndex, query: Query, filters: Filters, min_score: float | None
    ) -> None:
        self._index = index
        self._vector = query.vector
        self._filters = filters
        self._min_score = min_score
        self.degraded: tuple[str, ...] = ()

    def fetch(self, limit: int, offset: int) -> list[Candidate]:
        """The candidates from `offset` on; fewer than `limit` where there are no more."""
        if self._vector is None:
            return []
        found = self._index.search(
            self._vector, self._filters, limit=limit, offset=offset, min_score=self._min_score
        )
        self.degraded = found.degraded
        return _by_cosine(found)


class Neighbours:
    """All captures by their nearness to one, itself and its chain left out."""

    def __init__(self, index: VaultIndex, record: CaptureRecord, filters: Filters) -> None:
        self._index = index
        self._record = record
        self._filters = filters
        self.degraded: tuple[str, ...] = ()

    def fetch(self, limit: int, offset: int) -> list[Candidate]:
        """The candidates from `offset` on; fewer than `limit` where there are no more."""
        found = self._index.near(self._record, self._filters, limit=limit, offset=offset)
        self.degraded = found.degraded
        return _by_cosine(found)


def _by_cosine(found: Ranking) -> list[Candidate]:
    return [Candidate(hit.record, Signals.of_cosine(hit.score), hit.score) for hit in found.hits]
