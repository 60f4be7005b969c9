"""Whether one way of recalling is better than another, or only luckier; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROUNDS = 10_000
SEED = 1935  # Fisher's year; any number does, as long as it stays
# Sums of measures differ by less than this from the same sum in another order.
NOISE = 1e-9
_BLOCK = 1_000_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure of two settings: the mean difference (second less first), and on how many
    queries the second is better, equal, worse.

    `p` is how often a difference at least as large comes from tossing coins over which setting a
    result belongs to.
    """

    difference: float
    better: int
    equal: int
    worse: int
    p: float


def compare(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Compare a measure query by query; both hold the same queries, at least one."""
    differences = [after - before for before, after in zip(first, second, strict=True)]
    better = sum(each > NOISE for each in differences)
    worse = sum(each < -NOISE for each in differences)
    return Comparison(
        difference=math.fsum(differences) / len(differences),
        better=better,
        equal=len(differences) - better - worse,
        worse=worse,
        p=sign_flip_p(differences),
    )


def sign_flip_p(differences: Sequence[float], rounds: int = ROUNDS) -> float:
    """Two-sided p of Fisher's paired randomisation test, in (0, 1].

    Exact where all signs can be tried in `rounds`, else by that many seeded tosses: the same
    differences always give the same p. Queries without a difference say nothing and are left out.
    """
    telling = [each for each in differences if abs(each) > NOISE]
    observed = abs(math.fsum(telling)) - NOISE
    ways = 1 << len(telling)
    if ways <= rounds:
        return sum(abs(total) >= observed for total in _all_sums(telling)) / ways
    return (1 + _tossed(telling, observed, rounds)) / (1 + rounds)


def _all_sums(values: Sequence[float]) -> list[float]:
    sums = [0.0]
    for value in values:
        sums = [total + signed for total in sums for signed in (value, -value)]
    return sums


def _tossed(values: Sequence[float], observed: float, rounds: int) -> int:
    """How many of `rounds` random choices of signs give a sum of at least `observed`."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    column, block = np.array(values), max(1, _BLOCK // len(values))
    starts = range(0, rounds, block)
    sizes = (min(block, rounds - start) for start in starts)
    return sum(_reaching(generator, column, size, observed) for size in sizes)


def _reaching(
    generator: np.random.Generator, column: NDArray[np.float64], size: int, observed: float
) -> int:
    import numpy as np

    tosses = generator.integers(0, 2, (size, len(column)), dtype=np.int8)
    sums = 2 * (tosses @ column) - column.sum()  # a sign is 2 * toss - 1
    return int(np.count_nonzero(np.abs(sums) >= observed))
