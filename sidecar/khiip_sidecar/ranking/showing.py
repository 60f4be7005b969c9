"""A page of hits as it is shown: which are weak, why each was found, and where it matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from khiip_indexer.fields.entity_names import entity_key
from khiip_sidecar.ranking.candidates import Candidate
from khiip_sidecar.ranking.fusion import is_weak, reasons
from khiip_sidecar.ranking.reading import Reading
from khiip_sidecar.results import Explanation, RecalledHit, RecallRequest

if TYPE_CHECKING:
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.lexical.passages import PassageHit
    from khiip_sidecar.memory.desk import MemoryDesk


class Showing:
    """Makes hits of candidates; `floor` gives the cosine below which a hit is no better than
    chance.
    """

    def __init__(self, index: VaultIndex, memory: MemoryDesk, floor: Callable[[], float]) -> None:
        self._index = index
        self._memory = memory
        self._floor = floor

    def hits(
        self, request: RecallRequest, reading: Reading | None, found: Sequence[Candidate]
    ) -> tuple[RecalledHit, ...]:
        """The hits with what was asked for about each; `reading` is None without a query."""
        floor = self._floor()
        hits = [
            RecalledHit(
                each.record, each.score, weak=bool(reading) and is_weak(each.signals, floor)
            )
            for each in found
        ]
        if request.explain or request.rank == "composite" or reading is None:
            hits = self._explained(request, reading, found, hits)
        if request.passages:
            hits = self._located(request, reading, hits)
        return tuple(hits)

    def _explained(
        self,
        request: RecallRequest,
        reading: Reading | None,
        found: Sequence[Candidate],
        hits: Sequence[RecalledHit],
    ) -> list[RecalledHit]:
        memories = self._memory.of([each.record for each in found])
        titled = self._titled(reading, found)
        named = {entity_key(request.query or ""), *request.filters.entities} - {""}
        explained = []
        for each, hit, memory in zip(found, hits, memories, strict=True):
            about = {entity_key(entity) for entity in each.record.entities}
            said = (
                *reasons(each.signals, self._floor(), titled=each.record.row in titled),
                *(("entity_name_match",) if named & about else ()),
                *memory.reasons,
            )
            explanation = Explanation(memory.weighed(each.relevance), said)
            explained.append(replace(hit, explanation=explanation))
        return explained

    def _titled(self, reading: Reading | None, found: Sequence[Candidate]) -> set[int]:
        rows = [each.record.row for each in found if each.signals.words is not None]
        return self._index.finder.titled(reading.query.words, rows) if reading and rows else set()

    def _located(
        self, request: RecallRequest, reading: Reading | None, hits: Sequence[RecalledHit]
    ) -> list[RecalledHit]:
        rows = [hit.record.row for hit in hits]
        vector = reading.query.vector if reading else None
        found = self._index.finder.passages(rows, request.query or "", vector)
        return [replace(hit, passage=self._exact(hit, found.get(hit.record.row))) for hit in hits]

    def _exact(self, hit: RecalledHit, passage: PassageHit | None) -> PassageHit | None:
        from khiip_indexer.lexical.passages import located

        return located(passage, self._index.source(hit.record)) if passage else None
