"""What memory says of notes, ready to be weighed: of one record, and of all notes at once; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from khiip_indexer.storage.access_rows import Tally
from khiip_sidecar.memory import constants as c
from khiip_sidecar.memory.composite import Breakdown, composite, composites, memory_reasons
from khiip_sidecar.memory.heat import Heat, ManyReads, Reads, heat, heats
from khiip_sidecar.memory.importance import ImportanceFrom, importance_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from khiip_indexer.records import CaptureRecord
    from khiip_indexer.storage.entities import EntityFacts

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NoteMemory:
    """What memory says of one note; `momentum` is in [0, 10]."""

    heat: Heat
    momentum: float
    importance: float
    importance_from: ImportanceFrom
    reasons: tuple[str, ...]

    def weighed(self, relevance: float) -> Breakdown:
        """The note's composite with this relevance, and its parts."""
        return composite(relevance, self.heat.value, self.momentum, self.importance)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a note besides its record.

    `tally`: how often it was read; `edited`: its last known edit (seconds since 1970);
    `backlinks`: how many notes name it; `momentum`: its most active entity's.
    """

    tally: Tally | None = None
    edited: float | None = None
    backlinks: int = 0
    momentum: float = 0.0


def note_memory(record: CaptureRecord, known: Known, now: float) -> NoteMemory:
    """What memory says of a capture at `now` (seconds since 1970)."""
    layer, pinned = record.layer, record.pinned
    importance, source = importance_of(record.importance, pinned=pinned, backlinks=known.backlinks)
    warmth = heat(_reads(record, known), now, importance, layer=layer, pinned=pinned)
    reasons = memory_reasons(warmth, known.momentum, importance, layer=layer, pinned=pinned)
    return NoteMemory(warmth, known.momentum, importance, source, reasons)


def _reads(record: CaptureRecord, known: Known) -> Reads:
    # Whole seconds, as the columns of all notes have them.
    recorded = float(datetime.fromisoformat(record.recorded_at).timestamp() // 1)
    if known.tally is None:
        return Reads(recorded, known.edited)
    return Reads(recorded, known.edited, known.tally.count, known.tally.last / 1000)


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Heat, momentum (in [0, 10]) and importance of many notes, by rising `rows`.

    `ids` are those notes' captures.
    """

    rows: NDArray[np.int64]
    ids: tuple[str, ...]
    heat: Numbers
    momentum: Numbers
    importance: Numbers

    def composites(self, relevance: float | Numbers) -> Numbers:
        """The composite of each note; one relevance for all, or one for each."""
        import numpy as np

        return composites(
            np.broadcast_to(np.asarray(relevance, np.float64), self.rows.shape),
            self.heat,
            self.momentum,
            self.importance,
        )

    def in_bands(self, bands: Iterable[str]) -> NDArray[np.int64]:
        """The rows of the notes whose heat is in one of these bands."""
        import numpy as np

        names = [name for _, name in c.HEAT_BANDS]
        steps = [self.heat >= least for least, _ in c.HEAT_BANDS[:-1]]
        band = np.select(steps, list(range(len(steps))), len(steps))
        return self.rows[np.isin(band, [names.index(each) for each in bands])]


def weights(
    facts: EntityFacts,
    tallies: Mapping[str, Tally],
    *,
    momentum: Numbers,
    importance: Numbers,
    now: float,
) -> Weights:
    """What `note_memory` says of each of these notes, without the reasons."""
    import numpy as np

    count = np.zeros(len(facts.rows), np.int64)
    last = np.zeros(len(facts.rows))
    if tallies:
        for place, identity in enumerate(facts.ids):
            if (tally := tallies.get(identity)) is not None:
                count[place], last[place] = tally.count, tally.last / 1000
    caveat = np.array([layer == c.PROTECTED_LAYER for layer in facts.layers], np.bool_)
    protected = caveat | facts.pinned | (importance >= c.PINNED_IMPORTANCE)
    reads = ManyReads(facts.recorded, facts.edited, count, last)
    heat_of = heats(reads, now, importance, protected)
    return Weights(facts.rows, facts.ids, heat_of, momentum, importance)
