"""What scores mean under a model: of titles with their own notes and others, of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_indexer.embedding.lineup import query_vector
from khiip_indexer.errors import UsageError
from khiip_indexer.records import CaptureRecord, Filters

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.index import VaultIndex

SAMPLE = 120
LEAST = 10
_STRANGERS = 12
_LEAST_LETTERS = 8  # a title of a date or a single short word asks nothing


@dataclass(frozen=True, slots=True)
class Calibration:
    """Scores, in rising order.

    Of titles with their own notes and with notes of other titles; of notes with the one that is
    nearest to each, as `related` has them.
    """

    own: tuple[float, ...]
    strangers: tuple[float, ...]
    neighbours: tuple[float, ...]

    @property
    def floor(self) -> float:
        """Below this a hit is no better than chance: what few strangers and most answers reach.

        19 of 20 strangers are under it, and never more than one answer in ten.
        """
        return round(min(share(self.strangers, 0.95), share(self.own, 0.1)), 2)


def share(ordered: Sequence[float], part: float) -> float:
    """The score below which this part of them is; of (at least one) scores in rising order."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def calibrate(index: VaultIndex, embedder: Embedder) -> Calibration:
    """Ask the titles of up to 120 notes; UsageError where too few notes have a title that asks.

    A title is part of its note's own text, so that real questions score lower with the answer:
    the strangers' scores are what the floor rests on.
    """
    notes = sampled(index.page(Filters(), limit=None))
    if len(notes) < LEAST:
        raise UsageError(
            f"{len(notes)} notes are too few to calibrate a model with.",
            hint=f"It takes {LEAST} notes with a title of some words.",
            code="too_few_notes",
        )
    own: list[float] = []
    strangers: list[float] = []
    neighbours: list[float] = []
    with index.searching() as search:
        for place, note in enumerate(notes):
            others = _others(notes, place)
            vector = query_vector(embedder, note.title)
            near = search.passage_cosines(vector, [note.row, *(other.row for other in others)])
            best = {row: max(of.values()) for row, of in near.items()}
            own += [best[note.row]] if note.row in best else []
            strangers += [best[other.row] for other in others if other.row in best]
            neighbours += [
                hit.score for hit in search.near(note, Filters(), limit=1, offset=0).hits
            ]
    if not own or not strangers:
        raise UsageError("The notes have no vectors yet.", hint="Run khiipd reindex.")
    return Calibration(tuple(sorted(own)), tuple(sorted(strangers)), tuple(sorted(neighbours)))


def sampled(records: Sequence[CaptureRecord]) -> list[CaptureRecord]:
    """Notes evenly from all of the vault, each title once."""
    titled = {r.title: r for r in records if sum(map(str.isalpha, r.title)) >= _LEAST_LETTERS}
    every = list(titled.values())
    step = max(1, -(-len(every) // SAMPLE))
    return every[::step]


def _others(notes: Sequence[CaptureRecord], place: int) -> list[CaptureRecord]:
    """Some that are far away in time: neighbours in a list are often about one thing."""
    count = min(_STRANGERS, len(notes) - 1)
    step = max(1, (len(notes) - 1) // count)
    return [notes[(place + 1 + n * step) % len(notes)] for n in range(count)]
