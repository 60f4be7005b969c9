"""One search: read the query, gather, put in order, leave out what is gone, and explain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from khiip_indexer.records import Filters
from khiip_sidecar.paging import Page, fill_page
from khiip_sidecar.ranking.candidates import Candidate, Nearest, Pools
from khiip_sidecar.ranking.fusion import Signals, is_weak
from khiip_sidecar.ranking.orders import ByComposite, ByRelevance, Scoring
from khiip_sidecar.ranking.reading import Reading, read
from khiip_sidecar.results import RecallRequest

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.index import VaultIndex
    from khiip_sidecar.memory.desk import MemoryDesk

# What filters without a query are worth: all the same.
UNASKED = 0.5

Fetch = Callable[[int, int], Sequence[Candidate]]


class SearchEngine:
    """Searches one index; `floor` gives the cosine below which a hit is no better than chance."""

    def __init__(
        self,
        index: VaultIndex,
        embedder: Embedder,
        memory: MemoryDesk,
        floor: Callable[[], float],
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._memory = memory
        self._floor = floor

    def read(self, request: RecallRequest, text: str, error: str | None) -> Reading:
        """How the query is looked up; `error` says why the index is not there, if it is known."""
        return read(request, text, self._index, self._embedder, error)

    def search(
        self, request: RecallRequest, reading: Reading, filters: Filters
    ) -> tuple[Page[Candidate], tuple[str, ...]]:
        """The page of captures that fit a query best, and what was degraded on the way."""
        if reading.match == "semantic" and request.rank == "relevance":
            near = Nearest(self._index, reading.query, filters, request.min_score)
            page = self._page(request, near.fetch)
            return page, _once(reading.degraded, near.degraded)
        pools = Pools(self._index, reading.query, filters, self._floor())
        page = self._page(request, self._order(request, reading, iter(pools)).fetch)
        return page, _once(reading.degraded, pools.degraded)

    def _order(
        self, request: RecallRequest, reading: Reading, pools: Iterator[Mapping[int, Signals]]
    ) -> ByRelevance | ByComposite:
        scoring = Scoring(reading.match, reading.query.words_weight, request.min_score)
        records = self._index.records
        if request.rank == "relevance":
            return ByRelevance(pools, scoring, records)
        return ByComposite(pools, scoring, records, self._composites, self._is_weak)

    def browse(self, request: RecallRequest, filters: Filters) -> Page[Candidate]:
        """The page of captures that the filters let in, by what matters now."""
        rows = self._memory.in_order(filters, UNASKED)
        wanted = request.min_score is None or request.min_score <= UNASKED

        def fetch(limit: int, offset: int) -> list[Candidate]:
            asked = rows[offset : offset + limit] if wanted else []
            records = self._index.records(asked)
            found = (records[row] for row in asked if row in records)
            return [Candidate(record, Signals(), UNASKED) for record in found]

        return self._page(request, fetch)

    def _composites(self, found: Sequence[Candidate]) -> list[float]:
        memories = self._memory.of([each.record for each in found])
        return [
            memory.weighed(each.relevance).composite
            for each, memory in zip(found, memories, strict=True)
        ]

    def _page(self, request: RecallRequest, fetch: Fetch) -> Page[Candidate]:
        return fill_page(
            fetch,
            lambda each: self._index.freshness(each.record),
            limit=request.limit,
            offset=request.offset,
        )

    def _is_weak(self, signals: Signals) -> bool:
        return is_weak(signals, self._floor())


def _once(*names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))
