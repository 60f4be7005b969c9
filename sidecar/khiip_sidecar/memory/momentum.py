"""How much is going on around an entity: quality, velocity, relative volume; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_sidecar.memory import constants as c

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]
    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pulses:
    """The events of many entities, one number an entity in each array.

    `day`, `week` and `total` count events of the last 24 hours, the last 7 days and ever;
    `first` is the oldest event in seconds since 1970; `quality` is the mean importance of the
    notes with an event in the last 7 days, 0 where there is none.
    """

    day: Counts
    week: Counts
    total: Counts
    first: Numbers
    quality: Numbers


def momenta(pulses: Pulses, now: float) -> Numbers:
    """Momentum in [0, 10] of each entity, rounded to four digits; `now` in seconds since 1970."""
    import numpy as np

    value = (
        c.QUALITY_WEIGHT * pulses.quality * c.MOST_MOMENTUM
        + c.VELOCITY_WEIGHT * velocity(pulses.day, pulses.week)
        + c.VOLUME_WEIGHT * relative_volume(pulses, now)
    )
    active = np.where(pulses.week > 0, value, 0.0)
    return np.round(np.clip(active, 0.0, c.MOST_MOMENTUM), c.DIGITS)


def velocity(day: Counts, week: Counts) -> Numbers:
    """Points for the number of events: of the last 24 hours, else of the last 7 days."""
    import numpy as np

    steps = [(day >= least, points) for least, points in c.VELOCITY_DAY]
    steps += [(week >= least, points) for least, points in c.VELOCITY_WEEK]
    return np.select([holds for holds, _ in steps], [points for _, points in steps], 0.0)


def relative_volume(pulses: Pulses, now: float) -> Numbers:
    """Points for the last 7 days against the weekly average since the entity's first event.

    The average is all events over the weeks since the first one, at least one week. Where nothing
    is older than 7 days there is no past to compare with: first activity.
    """
    import numpy as np

    weeks = np.maximum((now - pulses.first) / c.WEEK, 1.0)
    average = np.maximum(pulses.total, pulses.week) / weeks
    ratio = np.where(pulses.week > 0, pulses.week / np.where(average > 0, average, 1.0), 0.0)
    steps = [(ratio >= least, points) for least, points in c.VOLUME]
    grown = np.select(
        [holds for holds, _ in steps], [points for _, points in steps], ratio * c.VOLUME_BELOW
    )
    first = (pulses.week > 0) & (pulses.first > now - c.WEEK)
    return np.where(first, c.FIRST_ACTIVITY, grown)


def momentum_band(value: float) -> str:
    """`surging`, `active`, `quiet` or `dormant`; a value at the bound is in the livelier one."""
    return next(name for least, name in c.MOMENTUM_BANDS if value >= least or least == 0)
