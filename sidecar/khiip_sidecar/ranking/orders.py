"""In which order a pool of captures is given: by relevance, or by what matters now; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from khiip_indexer.records import CaptureRecord
from khiip_sidecar.ranking.candidates import Candidate
from khiip_sidecar.ranking.fusion import DIGITS, Signals, fused

Match = Literal["semantic", "lexical", "hybrid"]
Rank = Literal["relevance", "composite"]
Pair = tuple[CaptureRecord, Signals]
Composites = Callable[[Sequence[Candidate]], Sequence[float]]


def score(signals: Signals, match: Match, words_weight: float) -> float:
    """The number that a hit is shown and compared with: a cosine, or a relevance in [0, 1]."""
    if match == "hybrid":
        return fused(signals, words_weight)
    if match == "lexical":
        return round(signals.words.score, DIGITS) if signals.words else 0.0
    return signals.meaning.best if signals.meaning else 0.0


def candidates(
    pairs: Sequence[Pair], match: Match, words_weight: float, min_score: float | None
) -> list[Candidate]:
    """The captures of a pool that reach the floor; one exactly at it is kept."""
    found = []
    for record, signals in pairs:
        value = score(signals, match, words_weight)
        if min_score is None or value >= min_score:
            found.append(Candidate(record, signals, value, min(1.0, max(0.0, value))))
    return found


def by_relevance(found: list[Candidate]) -> list[Candidate]:
    """Best score first, then the newest, then by path."""
    found.sort(key=lambda each: each.record.vault_path)
    found.sort(key=lambda each: each.record.recorded_at, reverse=True)
    found.sort(key=lambda each: (each.signals.verbatim, each.score), reverse=True)
    return found


def by_composite(
    found: list[Candidate], composites: Composites, is_weak: Callable[[Signals], bool]
) -> list[Candidate]:
    """What matters most first, ties by id; what does not fit at all comes last.

    However warm a note is, it is no answer to a question that it has nothing to do with.
    """
    values = composites(found)
    order = sorted(
        range(len(found)),
        key=lambda at: (is_weak(found[at].signals), -values[at], found[at].record.id),
    )
    return [found[at] for at in order]
