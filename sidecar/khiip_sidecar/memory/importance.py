"""How much a note matters: as it says itself, else by what links to it; pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from khiip_sidecar.memory import constants as c

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ImportanceFrom = Literal["written", "inferred"]


def importance_of(
    written: float | None, *, pinned: bool, backlinks: int
) -> tuple[float, ImportanceFrom]:
    """A note's importance in [0, 1], and whether the note says so.

    Inferred, it is 0.8 for a pinned note, else 0.3 and 0.1 more with each doubling of the number
    of notes that link to it (1: 0.4, 3: 0.5, 7: 0.6, 15: 0.7, 31: 0.8), at most 0.8.
    """
    if written is not None:
        return min(1.0, max(0.0, written)), "written"
    if pinned:
        return c.MOST_INFERRED, "inferred"
    grown = c.LEAST_INFERRED + c.PER_DOUBLING * math.log2(1 + backlinks)
    return c.rounded(min(c.MOST_INFERRED, grown)), "inferred"


def importances(
    written: NDArray[np.float64], pinned: NDArray[np.bool_], backlinks: NDArray[np.int64]
) -> NDArray[np.float64]:
    """`importance_of` for many notes at once; NaN in `written` where a note says nothing."""
    import numpy as np

    most = np.where(pinned, c.MOST_INFERRED, c.LEAST_INFERRED)
    grown = np.minimum(c.MOST_INFERRED, most + c.PER_DOUBLING * np.log2(1 + backlinks))
    inferred = np.round(grown, c.DIGITS)
    return np.where(np.isnan(written), inferred, np.clip(written, 0.0, 1.0))


def is_pinned(importance: float, *, pinned: bool) -> bool:
    """Whether a note counts as pinned: it says so, or its importance is at least 0.9."""
    return pinned or importance >= c.PINNED_IMPORTANCE
