"""What a hit is worth: relevance and memory weighed together, and why; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from khiip_sidecar.memory import constants as c
from khiip_sidecar.memory.heat import Heat
from khiip_sidecar.memory.importance import is_pinned
from khiip_sidecar.memory.momentum import momentum_band

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The four parts of a composite, each in [0, 1] and rounded to four digits."""

    relevance: float
    heat: float
    momentum: float
    importance: float

    @property
    def composite(self) -> float:
        """The weighted sum of the parts, in [0, 1], rounded to four digits."""
        total = (
            c.RELEVANCE_WEIGHT * self.relevance
            + c.HEAT_WEIGHT * self.heat
            + c.MOMENTUM_WEIGHT * self.momentum
            + c.IMPORTANCE_WEIGHT * self.importance
        )
        return c.rounded(total)

    def as_dict(self) -> dict[str, float]:
        """The parts by name, as `score_breakdown` has them."""
        return asdict(self)


def composite(relevance: float, heat: float, momentum10: float, importance: float) -> Breakdown:
    """Weigh relevance, heat and importance in [0, 1] and a momentum in [0, 10].

    What lies outside is drawn to the nearest bound, and what is no number counts as 0.
    """
    return Breakdown(
        _part(relevance), _part(heat), _part(momentum10 / c.MOST_MOMENTUM), _part(importance)
    )


def composites(
    relevance: Numbers, heat: Numbers, momentum10: Numbers, importance: Numbers
) -> Numbers:
    """`composite` of many hits at once, for putting them in order."""
    import numpy as np

    weighed = (
        (relevance, c.RELEVANCE_WEIGHT),
        (heat, c.HEAT_WEIGHT),
        (momentum10 / c.MOST_MOMENTUM, c.MOMENTUM_WEIGHT),
        (importance, c.IMPORTANCE_WEIGHT),
    )
    total = np.zeros(len(relevance))
    for part, weight in weighed:
        sound = np.nan_to_num(part, nan=0.0, posinf=1.0, neginf=0.0)
        total += weight * np.round(np.clip(sound, 0.0, 1.0), c.DIGITS)
    return np.round(total, c.DIGITS)


def memory_reasons(
    heat: Heat, momentum10: float, importance: float, *, layer: str | None, pinned: bool
) -> tuple[str, ...]:
    """The `match_reasons` that memory gives, each only where it is true, in a fixed order."""
    return tuple(_reasons(heat, momentum10, importance, layer, pinned))


def _reasons(
    heat: Heat, momentum10: float, importance: float, layer: str | None, pinned: bool
) -> Iterator[str]:
    if heat.band in ("hot", "warm"):
        yield f"heat:{heat.band}"
    if momentum_band(momentum10) in ("surging", "active"):
        yield "entity_active"
    if is_pinned(importance, pinned=pinned):
        yield "pinned"
    if importance >= c.HIGH_IMPORTANCE:
        yield "high_importance"
    if heat.lifted and layer == c.PROTECTED_LAYER:
        yield "caveat_protected"


def _part(value: float) -> float:
    if math.isnan(value):
        return 0.0
    return c.rounded(min(1.0, max(0.0, value)))
