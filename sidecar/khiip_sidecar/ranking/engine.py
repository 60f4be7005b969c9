"""One search: read the query, gather, put in order, leave out what is gone, and explain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from khiip_indexer.records import CaptureRecord, Ranking
from khiip_sidecar.paging import Page, fill_page
from khiip_sidecar.ranking.candidates import Candidate, Nearest, Pool, Pools, Query
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

# How a search reads that has no query but a capture.
NEAR = Reading(Query(), "semantic")

Fetch = Callable[[int, int], Sequence[Candidate]]


@dataclass(frozen=True, slots=True)
class Found:
    """A page of candidates; of how many, and what was not available on the way."""

    page: Page[Candidate]
    total: int
    degraded: tuple[str, ...] = ()


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

    def search(self, request: RecallRequest, reading: Reading) -> Found:
        """The page of captures that fit a query best."""
        if reading.match == "semantic" and request.rank == "relevance":
            return self._found(request, Nearest(partial(self._near, request, reading)), reading)
        floor = self._floor()
        pools = Pools(self._index, reading.query, request.filters, floor)
        order = self._order(request, reading, iter(pools), floor)
        page = self._page(request, order.fetch)
        return Found(page, pools.total, _once(reading.degraded, pools.degraded))

    def related(self, request: RecallRequest, record: CaptureRecord) -> Found:
        """The page of captures nearest to a given one, itself and its chain left out."""

        def ask(limit: int, offset: int) -> Ranking:
            return self._index.near(record, request.filters, limit=limit, offset=offset)

        return self._found(request, Nearest(ask), NEAR)

    def browse(self, request: RecallRequest) -> Found:
        """The page of captures that the filters let in, by what matters now."""
        rows = self._memory.in_order(request.filters, UNASKED)
        wanted = request.min_score is None or request.min_score <= UNASKED

        def fetch(limit: int, offset: int) -> list[Candidate]:
            asked = rows[offset : offset + limit] if wanted else []
            records = self._index.records(asked)
            found = (records[row] for row in asked if row in records)
            return [Candidate(record, Signals(), UNASKED) for record in found]

        return Found(self._page(request, fetch), self._index.total(request.filters))

    def _near(self, request: RecallRequest, reading: Reading, limit: int, offset: int) -> Ranking:
        if reading.query.vector is None:
            raise ValueError("a search by meaning has a vector")
        return self._index.search(
            reading.query.vector,
            request.filters,
            limit=limit,
            offset=offset,
            min_score=request.min_score,
        )

    def _found(self, request: RecallRequest, near: Nearest, reading: Reading) -> Found:
        page = self._page(request, near.fetch)
        return Found(page, near.total, _once(reading.degraded, near.degraded))

    def _order(
        self,
        request: RecallRequest,
        reading: Reading,
        pools: Iterator[Pool],
        floor: float,
    ) -> ByRelevance | ByComposite:
        scoring = Scoring(reading.match, reading.query.words_weight, request.min_score)
        records = self._index.records
        if request.rank == "relevance":
            return ByRelevance(pools, scoring, records)
        weak = partial(is_weak, floor=floor)
        return ByComposite(pools, scoring, records, self._composites, weak)

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


def _once(*names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for each in names for name in each))
