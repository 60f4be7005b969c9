"""How warm the memory of a note is: Ebbinghaus' forgetting curve since it was last read; pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_sidecar.memory import constants as c
from khiip_sidecar.memory.importance import is_pinned

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Heat:
    """`value` in [0, 1]; `lifted` when it would be lower but for the note's protection."""

    value: float
    band: str
    lifted: bool = False


@dataclass(frozen=True, slots=True)
class Reads:
    """How often a note was read and when last, and when it was recorded and edited.

    Seconds since 1970, all of them; `last` is None when `count` is 0.
    """

    recorded: float
    edited: float | None = None
    count: int = 0
    last: float | None = None


@dataclass(frozen=True, slots=True)
class ManyReads:
    """`Reads` of many notes, an array each; `edited` is `recorded` where nothing is known."""

    recorded: Numbers
    edited: Numbers
    count: NDArray[np.int64]
    last: Numbers


def heat(reads: Reads, now: float, importance: float, *, layer: str | None, pinned: bool) -> Heat:
    """The heat of a note at `now` (seconds since 1970), rounded to four digits, and its band.

    `caveat` notes and pinned ones (or of importance 0.9 and more) have at least 0.40.
    """
    days = max(0.0, now - touched(reads, now)) / c.DAY
    value = c.rounded(math.exp(-days / strength(reads.count, importance)))
    protected = layer == c.PROTECTED_LAYER or is_pinned(importance, pinned=pinned)
    if protected and value < c.PROTECTED_HEAT:
        return Heat(c.PROTECTED_HEAT, heat_band(c.PROTECTED_HEAT), lifted=True)
    return Heat(value, heat_band(value))


def heats(
    reads: ManyReads, now: float, importance: Numbers, protected: NDArray[np.bool_]
) -> Numbers:
    """The values of `heat` for many notes; `protected` are caveats and pinned ones."""
    import numpy as np

    unread = np.maximum(np.minimum(reads.recorded, now), np.minimum(reads.edited, now))
    since = np.where(reads.count > 0, np.minimum(reads.last, now), unread)
    days = np.maximum(0.0, now - since) / c.DAY
    often = 1 + c.STRENGTH_PER_ACCESS * np.log1p(reads.count)
    kept = np.exp(-days / (c.STRENGTH_DAYS * (1 + importance) * often))
    value = np.round(kept, c.DIGITS)
    return np.where(protected, np.maximum(value, c.PROTECTED_HEAT), value)


def strength(accesses: int, importance: float) -> float:
    """Days in which heat falls to 1/e: grows with importance, and with every access less."""
    often = 1 + c.STRENGTH_PER_ACCESS * math.log1p(max(0, accesses))
    return c.STRENGTH_DAYS * (1 + importance) * often


def touched(reads: Reads, now: float) -> float:
    """The moment that heat decays from; what lies in the future is now."""
    if reads.count > 0 and reads.last is not None:
        return min(reads.last, now)
    edited = reads.recorded if reads.edited is None else reads.edited
    return max(min(reads.recorded, now), min(edited, now))


def heat_band(value: float) -> str:
    """`hot`, `warm`, `cold` or `frozen`; a value at the bound is in the warmer one."""
    return next(name for least, name in c.HEAT_BANDS if value >= least or least == 0)
