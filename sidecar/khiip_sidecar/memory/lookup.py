"""Momentum of entities and of notes, computed once a minute and looked up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from khiip_indexer.records import CaptureRecord, Filters
from khiip_indexer.storage.access_rows import Tally
from khiip_sidecar.memory import constants as c
from khiip_sidecar.memory.activity import (
    Activity,
    note_events,
    note_importances,
    of_most_active,
    pulses,
)
from khiip_sidecar.memory.importance import importances
from khiip_sidecar.memory.momentum import momenta
from khiip_sidecar.memory.weigh import Known, Weights, weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from khiip_indexer.storage.entities import EntityFacts, EntityReader

    Numbers = NDArray[np.float64]

_MINUTE = 60
# Facts that took longer than this may be this many times as old as they took, while notes pour in.
_DEAR_SECONDS = 0.05
_TIMES = 20
# One filter is the rule; what an overview was narrowed to before is soon forgotten.
_KEPT = 4


class History(Protocol):
    """Whoever knows what was edited when."""

    def activity(self, since: int) -> Activity:
        """Edits by path: their moments from `since` on (seconds), their number, the first."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where memory takes its facts from; each is called from many threads.

    `generation` changes with the index, `now` is in seconds since 1970.
    """

    reader: Callable[[], EntityReader]
    generation: Callable[[], Hashable]
    history: Callable[[], History]
    now: Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Momentum:
    """Momentum in [0, 10] at one moment, of each entity and of each current note."""

    facts: EntityFacts
    of_keys: Numbers
    of_notes: Numbers
    _places: dict[str, int] = field(default_factory=dict)

    def entity(self, key: str) -> float:
        """An entity's momentum by its key; 0 for one that no current note names."""
        if not self._places:
            self._places.update((each, place) for place, each in enumerate(self.facts.keys))
        place = self._places.get(key)
        return 0.0 if place is None else float(self.of_keys[place])

    def notes(self, rows: Iterable[int]) -> Numbers:
        """The momentum of each of these notes (rows of the index), in their order."""
        return _looked_up(self.facts, self.of_notes, rows)

    def importances(self, rows: Iterable[int]) -> Numbers:
        """The importance of each of these notes, as written or inferred; NaN for unknown ones."""
        return _looked_up(self.facts, note_importances(self.facts), rows, missing=float("nan"))


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    facts: EntityFacts
    generation: Hashable
    mark: Hashable
    until: float

    def serves(self, generation: Hashable, mark: Hashable, now: float) -> bool:
        """Facts of this very state; while notes pour in, dear ones may be somewhat older."""
        return generation == self.generation and (mark == self.mark or now < self.until)


class Remembered:
    """Facts of one state of the index, and momentum of one minute of it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._guard = threading.Lock()
        self._facts: dict[Filters, _Kept] = {}
        self._momentum: tuple[float, Momentum] | None = None

    def facts(self, filters: Filters) -> EntityFacts:
        """The facts of what the filters let in, of the index as it is now."""
        with self._guard:
            return self._fresh(filters)

    def momentum(self) -> Momentum:
        """Momentum now, to the minute; of current notes, whatever else is filtered."""
        minute = self._sources.now() // _MINUTE * _MINUTE
        with self._guard:
            facts = self._fresh(Filters())
            known = self._momentum
            if known is None or known[0] != minute or known[1].facts is not facts:
                known = self._momentum = (minute, self._computed(facts, minute))
            return known[1]

    def known(self, records: Sequence[CaptureRecord], tallies: Mapping[str, Tally]) -> list[Known]:
        """What `note_memory` asks of each of a few captures."""
        rows = [record.row for record in records]
        reader, momentum = self._sources.reader(), self.momentum().notes(rows).tolist()
        edited, backlinks = reader.edited(rows), reader.backlinks(rows)
        return [
            Known(tallies.get(record.id), edited.get(row), backlinks.get(row, 0), active)
            for record, row, active in zip(records, rows, momentum, strict=True)
        ]

    def weights(self, filters: Filters, tallies: Mapping[str, Tally]) -> Weights:
        """Heat, momentum and importance of every note that the filters let in, now.

        For what has no query, and for filters by heat: `bands` of the filters is not looked at.
        """
        facts, momentum = self.facts(filters), self.momentum()
        return weights(
            facts,
            tallies,
            momentum=momentum.notes(facts.rows),
            importance=self._importances(facts, momentum),
            now=self._sources.now(),
        )

    def _importances(self, facts: EntityFacts, momentum: Momentum) -> Numbers:
        """Backlinks are counted among all current notes, whatever is filtered."""
        import numpy as np

        found = momentum.importances(facts.rows)
        rest = np.flatnonzero(np.isnan(found))  # archived and replaced notes
        if len(rest):
            rows = facts.rows[rest].tolist()
            backlinks = self._sources.reader().backlinks(rows)
            counts = np.array([backlinks.get(row, 0) for row in rows], np.int64)
            found[rest] = importances(facts.importance[rest], facts.pinned[rest], counts)
        return found

    def _fresh(self, filters: Filters) -> EntityFacts:
        reader, generation = self._sources.reader(), self._sources.generation()
        mark = reader.mark()
        known = self._facts.get(filters)
        if known is not None and known.serves(generation, mark, time.monotonic()):
            return known.facts
        if len(self._facts) >= _KEPT:
            self._facts.clear()
        began = time.monotonic()
        facts = reader.facts(filters)
        took = time.monotonic() - began
        until = time.monotonic() + took * _TIMES if took > _DEAR_SECONDS else 0.0
        self._facts[filters] = _Kept(facts, generation, mark, until)
        return facts

    def _computed(self, facts: EntityFacts, now: float) -> Momentum:
        activity = self._sources.history().activity(int(now - c.WEEK))
        of_keys = momenta(pulses(facts, note_events(facts, activity, now)), now)
        return Momentum(facts, of_keys, of_most_active(facts, of_keys))


def _looked_up(
    facts: EntityFacts, of_notes: Numbers, rows: Iterable[int], missing: float = 0.0
) -> Numbers:
    import numpy as np

    wanted = np.fromiter(rows, np.int64)
    if len(facts.rows) == 0:
        return np.full(len(wanted), missing)
    places = np.minimum(np.searchsorted(facts.rows, wanted), len(facts.rows) - 1)
    return np.where(facts.rows[places] == wanted, of_notes[places], missing)
