"""What memory says of one vault's captures: heat, momentum, importance, and who is talked about."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from khiip_indexer.errors import StorageError
from khiip_indexer.records import CaptureRecord, Filters
from khiip_indexer.storage.access_rows import Tally
from khiip_sidecar.memory import constants as c

if TYPE_CHECKING:
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.storage.entities import EntityReader
    from khiip_sidecar.memory.lookup import Remembered, Sources
    from khiip_sidecar.memory.weigh import NoteMemory

_log = logging.getLogger(__name__)
BANDS = tuple(name for _, name in c.HEAT_BANDS)


class MemoryDesk:
    """Answers from one index; `clock` gives seconds since 1970. Any thread may ask.

    What it knows is loaded when first asked for: a search by meaning alone starts without.
    """

    def __init__(self, index: VaultIndex, clock: Callable[[], float] = time.time) -> None:
        self._index = index
        self._clock = clock

    @cached_property
    def sources(self) -> Sources:
        """Where facts come from."""
        from khiip_sidecar.memory.lookup import Sources

        return Sources(
            reader=self._reader,
            generation=lambda: self._index.meta("generation"),
            history=lambda: self._index.history,
            now=self._clock,
        )

    @cached_property
    def remembered(self) -> Remembered:
        """What was computed of them."""
        from khiip_sidecar.memory.lookup import Remembered

        return Remembered(self.sources)

    def _reader(self) -> EntityReader:
        from khiip_indexer.storage.entities import EntityReader

        return EntityReader(self._index.database.read())

    def tallies(self, ids: Sequence[str] | None = None) -> Mapping[str, Tally]:
        """How often captures were read; nothing where the log cannot be: memory is no reason to
        give no answer.
        """
        try:
            return self._index.accesses(ids)
        except StorageError as error:
            _log.warning("the access log could not be read: %s", error)
            return {}

    def of(self, records: Sequence[CaptureRecord]) -> list[NoteMemory]:
        """What memory says of each of these captures, now."""
        if not records:
            return []
        from khiip_sidecar.memory.weigh import note_memory

        tallies = self.tallies([record.id for record in records])
        known = self.remembered.known(records, tallies)
        now = self._clock()
        return [note_memory(each, facts, now) for each, facts in zip(records, known, strict=True)]

    def importances(self, records: Sequence[CaptureRecord]) -> list[tuple[float, str]]:
        """How much each of these captures matters, in [0, 1], and whether its note says so."""
        from khiip_sidecar.memory.importance import importance_of

        backlinks = self._reader().backlinks([each.row for each in records])
        return [
            importance_of(each.importance, pinned=each.pinned, backlinks=backlinks.get(each.row, 0))
            for each in records
        ]

    def in_order(self, filters: Filters, relevance: float) -> list[int]:
        """Rows of all that the filters let in, by composite with one relevance, then by id."""
        import numpy as np

        weights = self.remembered.weights(filters, self.tallies())
        places = np.argsort(np.array(weights.ids, dtype=object))
        by_id = np.empty(len(places), np.int64)
        by_id[places] = np.arange(len(places))
        order = np.lexsort((by_id, -weights.composites(relevance)))
        rows: list[int] = weights.rows[order].tolist()
        return rows

    def narrowed(self, filters: Filters) -> Filters:
        """The same filters with bands of heat made into the rows that are in them now."""
        from dataclasses import replace

        if not filters.bands and not filters.not_bands:
            return filters
        bands = (set(filters.bands) or set(BANDS)) - set(filters.not_bands)
        plain = replace(filters, bands=(), not_bands=())
        rows = self.remembered.weights(plain, self.tallies()).in_bands(sorted(bands))
        return replace(plain, rows=tuple(rows.tolist()))
