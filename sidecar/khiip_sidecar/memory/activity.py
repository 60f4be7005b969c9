"""What happened to the notes, and so to the entities that they are about; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_sidecar.memory import constants as c
from khiip_sidecar.memory.importance import importances
from khiip_sidecar.memory.momentum import Pulses

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from khiip_indexer.storage.entities import EntityFacts

    Whole = NDArray[np.int64]
    Numbers = NDArray[np.float64]

# Path -> (moments of the edits since a bound, number of all edits, moment of the first one), in
# seconds since 1970. A path that is not in it has no known edits.
Activity = Mapping[str, tuple[Sequence[int], int, int]]


@dataclass(frozen=True, slots=True)
class NoteEvents:
    """The events of each note: of the last 24 hours, the last 7 days, ever, and the first one."""

    day: Whole
    week: Whole
    total: Whole
    first: Numbers


def note_events(facts: EntityFacts, activity: Activity, now: float) -> NoteEvents:
    """Count the events of each note at `now`; `activity` reaches back 7 days at least.

    Being recorded is an event where it lies a day or more before the first known edit, or where
    no edit is known: notes are written before they come under git or into the index. Where only
    the file's time says when that was, it is none. What lies in the future is now.
    """
    import numpy as np

    unknown = np.isinf(facts.made)
    recorded = np.where(unknown, facts.made, np.minimum(facts.made, now))
    day, week, edits = (np.zeros(len(facts.rows), np.int64) for _ in range(3))
    first = np.full(len(facts.rows), np.inf)
    for place, path in enumerate(facts.paths):
        if (known := activity.get(path)) is not None and known[1] > 0:
            moments, edits[place], first[place] = known
            for moment in moments:
                week[place] += moment > now - c.WEEK
                day[place] += moment > now - c.DAY
    first = np.minimum(first, np.where(edits > 0, now, np.inf))
    apart = ~unknown & (recorded <= first - c.SAME_EVENT)
    return NoteEvents(
        day=day + (apart & (recorded > now - c.DAY)),
        week=week + (apart & (recorded > now - c.WEEK)),
        total=edits + apart,
        first=np.minimum(first, recorded),
    )


def pulses(facts: EntityFacts, events: NoteEvents) -> Pulses:
    """The events of each entity: those of the notes about it, taken together."""
    import numpy as np

    importance = note_importances(facts)
    active = (events.week > 0).astype(np.float64)
    notes = np.maximum(per_entity(facts, active), 1)
    return Pulses(
        day=per_entity(facts, events.day).astype(np.int64),
        week=per_entity(facts, events.week).astype(np.int64),
        total=per_entity(facts, events.total).astype(np.int64),
        first=_fold(np.minimum, facts, events.first),
        quality=per_entity(facts, active * importance) / notes,
    )


def note_importances(facts: EntityFacts) -> Numbers:
    """The importance of each note, as written or inferred."""
    return importances(facts.importance, facts.pinned, facts.backlinks)


def per_entity(facts: EntityFacts, of_notes: NDArray[np.generic]) -> Numbers:
    """The sum over each entity's notes."""
    import numpy as np

    weights = of_notes[facts.note]
    sums = np.bincount(facts.entity, weights=weights, minlength=len(facts.keys))
    return sums.astype(np.float64)


def newest(facts: EntityFacts, of_notes: Numbers) -> Numbers:
    """The greatest value among each entity's notes."""
    import numpy as np

    return _fold(np.maximum, facts, of_notes)


def of_most_active(facts: EntityFacts, momentum: Numbers) -> Numbers:
    """The momentum of each note: its most active entity's, 0 for a note about none."""
    import numpy as np

    found = np.zeros(len(facts.rows))
    np.maximum.at(found, facts.note, momentum[facts.entity])
    return found


def _fold(how: np.ufunc, facts: EntityFacts, of_notes: Numbers) -> Numbers:
    """Mentions lie side by side by entity, and every entity has one."""
    import numpy as np

    if len(facts.keys) == 0:
        return np.zeros(0)
    starts = np.flatnonzero(np.diff(facts.entity, prepend=-1))
    folded: Numbers = how.reduceat(of_notes[facts.note], starts)
    return folded
