"""In which order a pool of captures is given: by relevance, or by what matters now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from khiip_indexer.records import CaptureRecord
from khiip_sidecar.ranking.candidates import Candidate, Scored
from khiip_sidecar.ranking.fusion import DIGITS, Signals, fused

Match = Literal["semantic", "lexical", "hybrid"]
Rank = Literal["relevance", "composite"]
Records = Callable[[Sequence[int]], Mapping[int, CaptureRecord]]
Composites = Callable[[Sequence[Candidate]], Sequence[float]]


def score(signals: Signals, match: Match, words_weight: float) -> float:
    """The number that a hit is shown and compared with: a cosine, or a relevance in [0, 1]."""
    if match == "hybrid":
        return fused(signals, words_weight)
    if match == "lexical":
        return round(signals.words.score, DIGITS) if signals.words else 0.0
    return signals.meaning.best if signals.meaning else 0.0


def scored(
    pool: Mapping[int, Signals], match: Match, words_weight: float, min_score: float | None
) -> list[Scored]:
    """The captures of a pool that reach the floor, one exactly at it too; best score first."""
    found = [Scored(row, each, score(each, match, words_weight)) for row, each in pool.items()]
    if min_score is not None:
        found = [each for each in found if each.score >= min_score]
    found.sort(key=_merit, reverse=True)
    return found


def _merit(each: Scored) -> tuple[bool, float]:
    return each.signals.verbatim, each.score


class ByRelevance:
    """Best score first, then the newest, then by path; records are read as far as is asked."""

    def __init__(self, found: list[Scored], records: Records) -> None:
        self._found = found
        self._records = records
        self._known: list[Candidate] = []
        self._read = 0

    def first(self, count: int) -> list[Candidate]:
        """The first so many, or all where there are fewer."""
        while len(self._known) < count and self._read < len(self._found):
            self._more(count)
        return self._known[:count]

    def _more(self, count: int) -> None:
        start = self._read
        end = max(start + 1, min(count, len(self._found)))
        while end < len(self._found) and _merit(self._found[end]) == _merit(self._found[end - 1]):
            end += 1  # what is equal is told apart by its record
        self._read = end
        piece = known(self._found[start:end], self._records)
        piece.sort(key=lambda each: each.record.vault_path)
        piece.sort(key=lambda each: each.record.recorded_at, reverse=True)
        piece.sort(key=lambda each: (each.signals.verbatim, each.score), reverse=True)
        self._known += piece


class ByComposite:
    """What matters most first, ties by id; what does not fit at all comes last.

    However warm a note is, it is no answer to a question that it has nothing to do with.
    """

    def __init__(
        self, found: list[Candidate], composites: Composites, is_weak: Callable[[Signals], bool]
    ) -> None:
        values = composites(found)
        order = sorted(
            range(len(found)),
            key=lambda at: (is_weak(found[at].signals), -values[at], found[at].record.id),
        )
        self._found = [found[at] for at in order]

    def first(self, count: int) -> list[Candidate]:
        """The first so many, or all where there are fewer."""
        return self._found[:count]


def known(found: Sequence[Scored], records: Records) -> list[Candidate]:
    """Captures with their records; one that was taken away in the meantime is left out."""
    read = records([each.row for each in found])
    return [
        Candidate(read[each.row], each.signals, each.score) for each in found if each.row in read
    ]
