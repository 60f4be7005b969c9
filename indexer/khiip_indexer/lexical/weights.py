"""The numbers that text search ranks by: one frozen table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a match counts by where it is and how much of the query it covers.

    The first five multiply FTS5's BM25 (its k1 is 1.2 and its b 0.75). `bonus` is the part of a
    score that depends on the share of the query that a note holds, weighed by rarity.
    `substring` is the score of a note that holds the query only inside of words. `below_verbatim`
    is what others can reach at most beside a note that holds the whole query. `budget` bounds
    how many postings one query ranks: very frequent terms are left out beyond it.
    """

    title: float = 4.0
    headings: float = 2.0
    tags: float = 2.0
    author: float = 2.0
    body: float = 1.0
    bonus: float = 0.5
    substring: float = 0.5
    below_verbatim: float = 0.95
    budget: int = 4_000
    title_share: float = 0.5

    @property
    def columns(self) -> tuple[float, ...]:
        """The columns' weights in the order of the tables."""
        return self.title, self.headings, self.tags, self.author, self.body


WEIGHTS = Weights()
