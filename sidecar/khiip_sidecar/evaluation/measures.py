"""How good a ranking is against what people judged, as trec_eval counts it; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

# A note's grade for one query; from 1 on the note is relevant.
Grades = Mapping[str, int]
Scores = dict[str, float]

NDCG_DEPTH = 10
RECALL_DEPTHS = (5, 10, 25, 50)
NDCG = f"nDCG@{NDCG_DEPTH}"
MRR = "MRR"


def ndcg(ranked: Sequence[str], grades: Grades, depth: int = NDCG_DEPTH) -> float:
    """Normalised discounted cumulative gain of the first `depth` notes, in [0, 1].

    The gain is the grade itself, the discount log2(place + 1), the ideal the judged notes by
    falling grade. 0 when no judged note is relevant.
    """
    ideal = _discounted(sorted(map(_gain, grades.values()), reverse=True)[:depth])
    reached = _discounted([_gain(grades.get(note, 0)) for note in ranked[:depth]])
    return reached / ideal if ideal else 0.0


def recall(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """The share of all relevant notes that are among the first `depth`, in [0, 1]."""
    relevant = sum(grade > 0 for grade in grades.values())
    met = sum(grades.get(note, 0) > 0 for note in ranked[:depth])
    return met / relevant if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades) -> float:
    """One divided by the place of the first relevant note; 0 when there is none."""
    for place, note in enumerate(ranked, 1):
        if grades.get(note, 0) > 0:
            return 1 / place
    return 0.0


def measure(ranked: Sequence[str], grades: Grades, limit: int) -> Scores:
    """Every measure that a ranking of at most `limit` notes can have, by name."""
    return {
        NDCG: ndcg(ranked, grades),
        **{f"recall@{depth}": recall(ranked, grades, depth) for depth in _depths(limit)},
        MRR: reciprocal_rank(ranked, grades),
    }


def names(limit: int) -> list[str]:
    """The names that `measure` gives, in order; a ranking cut at 10 says nothing of recall@25."""
    return list(measure((), {}, limit))


def mean(scores: Sequence[Scores]) -> Scores:
    """The mean over queries of each measure; there must be at least one query."""
    return {name: math.fsum(each[name] for each in scores) / len(scores) for name in scores[0]}


def _depths(limit: int) -> list[int]:
    return [depth for depth in RECALL_DEPTHS if depth <= limit]


def _gain(grade: int) -> int:
    """A grade below 0 (spam, in some collections) takes nothing away."""
    return max(grade, 0)


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))
