"""Who may be a hit: captures near in meaning and captures that hold the words, pool by pool."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
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
    from khiip_indexer.search import Meaning
    from khiip_indexer.vectors import Vector

_log = logging.getLogger(__name__)

# So many of each kind are looked at first.
POOL = 64
# Of so many, this part is given without proof. Where all notes are alike, as those of one template
# are, a proof would take looking at all of them.
SURE_PART = 4


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


@dataclass(frozen=True, slots=True)
class Pool:
    """Captures that may be hits, by row; no later one has more than `beyond` as its relevance.

    The best `sure` of this and all pools before are hardly ever beaten by a later one.
    """

    signals: Mapping[int, Signals]
    beyond: float
    sure: int


class Pools:
    """Everything that may be a hit, pool after pool: the best of each kind first.

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

    def __iter__(self) -> Iterator[Pool]:
        seen: set[int] = set()
        while True:
            found = self._gather()
            last = self._size >= self.total
            new = {row: each for row, each in found.items() if row not in seen}
            yield Pool(new, 0.0 if last else self._beyond(found), self._size // SURE_PART)
            seen.update(found)
            if last:
                return
            self._size *= 2

    def _beyond(self, found: Mapping[int, Signals]) -> float:
        """What a capture that was not found has at most: the least of what each kind found."""
        words = [each.words for each in found.values() if each.words]
        whole = len(words) >= self._size
        if whole and all(each.verbatim for each in words):
            return 1.0
        least = min(each.score for each in words) if whole else 0.0
        if self._query.vector is None:
            return least
        cosines = sorted(each.meaning.best for each in found.values() if each.meaning)
        farthest = cosines[-self._size] if len(cosines) >= self._size else 0.0
        part = self._query.words_weight
        return part * least + (1 - part) * max(0.0, farthest)

    def _gather(self) -> dict[int, Signals]:
        words = self._words()
        near = self._meanings(words)
        forms = self._index.finder.forms()
        found = {
            row: Signals(near.get(row), words.get(row), form=forms.get(row, ""))
            for row in near | words
        }
        both = self._query.vector is not None and self._query.words is not None
        return self._in_context(found) if both else found

    def _meanings(self, also: Collection[int]) -> dict[int, Meaning]:
        if self._query.vector is None:
            return {}
        return self._index.finder.meanings(
            self._query.vector, self._filters, self._size, also=list(also)
        )

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
