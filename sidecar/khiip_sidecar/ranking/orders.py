"""In which order a pool of captures is given: by relevance, or by what matters now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from khiip_indexer.records import CaptureRecord
from khiip_sidecar.ranking.candidates import Candidate, Pool, Scored
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
        return round(signals.part * signals.words.score, DIGITS) if signals.words else 0.0
    return signals.meaning.best if signals.meaning else 0.0


@dataclass(frozen=True, slots=True)
class Scoring:
    """How hits are scored and which are kept."""

    match: Match
    words_weight: float
    min_score: float | None

    def scored(self, pool: Mapping[int, Signals]) -> list[Scored]:
        """The captures of a pool that reach the floor, one exactly at it too; best score first."""
        found = [
            Scored(row, each, score(each, self.match, self.words_weight))
            for row, each in pool.items()
        ]
        if self.min_score is not None:
            found = [each for each in found if each.score >= self.min_score]
        found.sort(key=_merit, reverse=True)
        return found


def _merit(each: Scored) -> tuple[bool, float]:
    return each.signals.verbatim, each.score


class ByRelevance:
    """Best score first, then the newest, then by path.

    A capture is given when none that is still to come can have a better score, or is at all
    likely to. Records are read as far as is asked.
    """

    def __init__(self, pools: Iterator[Pool], scoring: Scoring, records: Records) -> None:
        self._pools = pools
        self._scoring = scoring
        self._records = records
        self._beyond, self._sure = 1.0, 0
        self._found: list[Scored] = []
        self._known: list[Candidate] = []

    def fetch(self, limit: int, offset: int) -> list[Candidate]:
        """The candidates from `offset` on; fewer than `limit` where there are no more."""
        while len(self._known) < offset + limit:
            ready = self._ready()
            if ready > 0:
                self._read_on(min(ready, offset + limit - len(self._known)))
            elif not self._look_further():
                break
        return self._known[offset : offset + limit]

    def _ready(self) -> int:
        """How many of those that were found come before all that are still to come."""
        merits = (each.signals.verbatim or each.score >= self._beyond for each in self._found)
        proven = sum(takewhile(bool, merits))
        return max(proven, min(self._sure - len(self._known), len(self._found)))

    def _look_further(self) -> bool:
        """Whether there is another pool that may hold what is wanted; then its captures count."""
        if self._beyond < (self._scoring.min_score or 0.0):
            return False
        pool = next(self._pools, None)
        if pool is None:
            return False
        self._beyond, self._sure = pool.beyond, pool.sure
        self._found = sorted([*self._found, *self._scoring.scored(pool.signals)], key=_merit)[::-1]
        return True

    def _read_on(self, count: int) -> None:
        found, end = self._found, count
        while 0 < end < len(found) and _merit(found[end]) == _merit(found[end - 1]):
            end += 1  # what is equal is told apart by its record
        self._found = found[end:]
        piece = known(found[:end], self._records)
        piece.sort(key=lambda each: each.record.vault_path)
        piece.sort(key=lambda each: each.record.recorded_at, reverse=True)
        piece.sort(key=lambda each: (each.signals.verbatim, each.score), reverse=True)
        self._known += piece


class ByComposite:
    """What matters most first, ties by id, pool by pool; what does not fit at all comes last.

    However warm a note is, it is no answer to a question that it has nothing to do with: within a
    pool weak ones follow the others, and the next pool holds what fits worse.
    """

    def __init__(
        self,
        pools: Iterator[Pool],
        scoring: Scoring,
        records: Records,
        composites: Composites,
        is_weak: Callable[[Signals], bool],
    ) -> None:
        self._pools = pools
        self._scoring = scoring
        self._records = records
        self._composites = composites
        self._is_weak = is_weak
        self._found: list[Candidate] = []

    def fetch(self, limit: int, offset: int) -> list[Candidate]:
        """The candidates from `offset` on; fewer than `limit` where there are no more."""
        while len(self._found) < offset + limit:
            pool = next(self._pools, None)
            if pool is None:
                break
            scored = self._scoring.scored(pool.signals)
            self._found += self._ordered(known(scored, self._records))
        return self._found[offset : offset + limit]

    def _ordered(self, found: list[Candidate]) -> list[Candidate]:
        values = self._composites(found)
        order = sorted(
            range(len(found)),
            key=lambda at: (self._is_weak(found[at].signals), -values[at], found[at].record.id),
        )
        return [found[at] for at in order]


def known(found: Sequence[Scored], records: Records) -> list[Candidate]:
    """Captures with their records; one that was taken away in the meantime is left out."""
    read = records([each.row for each in found])
    return [
        Candidate(read[each.row], each.signals, each.score) for each in found if each.row in read
    ]
