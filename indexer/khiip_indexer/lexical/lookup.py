"""What terms are found in: reads of the full-text tables, each bounded; thin."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from khiip_indexer.lexical import match
from khiip_indexer.lexical.postings import Kept, Postings, added, postings
from khiip_indexer.lexical.weights import Weights

Condition = tuple[str, list[object]]
_PIECE = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """One term to rank by: its MATCH string, its rarity, and how many notes it may bring.

    Without `counts` it adds to BM25 only, and not to what a note holds of the query.
    """

    found_by: str
    weight: float
    most: int
    counts: bool = True
    times: float = 1.0

    @property
    def held(self) -> float:
        """What a note holds of the query by having it."""
        return self.weight if self.counts else 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """BM25 of a note summed over the terms, higher is better, and the weight of those it holds."""

    raw: float
    held: float


class Lookup:
    """Reads for one search; `condition` is on `captures c` and holds for every row that is given.

    Joins are written in the order in which they are to run: SQLite knows nothing of how few rows
    a full-text table gives, and would rather go through all captures.
    """

    def __init__(
        self, connection: sqlite3.Connection, condition: Condition, weights: Weights, kept: Kept
    ) -> None:
        self._connection = connection
        self._kept = kept
        self._condition, self._values = condition
        self._bonus = weights.bonus
        self._bm25 = f"-bm25(words, {', '.join(str(weight) for weight in weights.columns)})"

    def notes(self) -> int:
        """About how many notes there are."""
        return int(self._connection.execute("SELECT MAX(row) FROM texts").fetchone()[0] or 0)

    def documents(self) -> int:
        """How many notes FTS5 takes for all when it weighs a term."""
        sql = "SELECT COUNT(*) FROM words_docsize"
        return self._kept.get("documents", lambda: int(self._connection.execute(sql).fetchone()[0]))

    def count(self, found_by: str, most: int) -> int:
        """How many notes a MATCH string finds, counted up to one more than `most`."""
        sql = "SELECT COUNT(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        given = (found_by, most + 1)
        return self._kept.get(
            ("count", *given), lambda: int(self._connection.execute(sql, given).fetchone()[0])
        )

    def ranked(self, asked: Sequence[Asked], whole: float, most: int) -> dict[int, Ranked]:
        """The best `most` notes by BM25 and by the share of `whole` that they hold, best first.

        Of a term that brings more notes than it may, the newest count.
        """
        if not asked:
            return {}
        parts = [(self._postings(each), each.times, each.held) for each in asked]
        rows, raw, held = added(parts)
        by_share = self._bonus / whole if whole else 0.0
        order = np.lexsort((rows, raw * (1 - self._bonus + by_share * held)))[::-1]
        best = self._fitting(rows[order].tolist(), most)
        at = np.searchsorted(rows, best)
        values = zip(raw[at].tolist(), held[at].tolist(), strict=True)
        return {row: Ranked(*each) for row, each in zip(best, values, strict=True)}

    def _postings(self, asked: Asked) -> Postings:
        sql = (
            f"SELECT rowid, {self._bm25} FROM words WHERE words MATCH ? "  # noqa: S608
            "ORDER BY rowid DESC LIMIT ?"
        )
        given = (asked.found_by, asked.most)
        return self._kept.get(given, lambda: postings(self._connection.execute(sql, given)))

    def _fitting(self, rows: Sequence[int], most: int) -> list[int]:
        """The first `most` of these rows that fit the condition.

        Captures lie far apart, and looking at all costs more than finding them: where most of
        them fit, a few are enough.
        """
        few = most + most // 4
        fit = self._fit(rows[:few])
        if len(fit) < most:
            fit |= self._fit(rows[few:])
        return [row for row in rows if row in fit][:most]

    def _fit(self, rows: Sequence[int]) -> set[int]:
        sql = (
            "SELECT c.row FROM json_each(?) j CROSS JOIN captures c ON c.row = j.value "  # noqa: S608
            f"WHERE {self._condition}"
        )
        found = self._connection.execute(sql, (json.dumps(rows), *self._values)) if rows else ()
        return {row for (row,) in found}

    def let_in(self, found_by: str, most: int) -> list[int]:
        """The newest rows that a MATCH string finds, without their BM25."""
        sql = (
            "SELECT c.row FROM words CROSS JOIN captures c ON c.row = words.rowid "  # noqa: S608
            f"WHERE words MATCH ? AND {self._condition} ORDER BY words.rowid DESC LIMIT ?"
        )
        rows = self._connection.execute(sql, (found_by, *self._values, most))
        return [row for (row,) in rows]

    def inside(self, text: str, most: int) -> list[int]:
        """Rows that hold a folded text anywhere, also inside of words."""
        found, values = match.holds(text)
        grams = match.gram_match(text)
        source = "texts t" if grams is None else "grams CROSS JOIN texts t ON t.row = grams.rowid"
        first = "" if grams is None else "grams MATCH ? AND "
        sql = (
            f"SELECT t.row FROM {source} CROSS JOIN captures c ON c.row = t.row "  # noqa: S608
            f"WHERE {first}{found} AND {self._condition} LIMIT ?"
        )
        given = [] if grams is None else [grams]
        rows = self._connection.execute(sql, (*given, *values, *self._values, most))
        return [row for (row,) in rows]

    def holding(self, found_by: str, rows: Sequence[int]) -> set[int]:
        """Which of these rows a MATCH string finds."""
        sql = "SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?"
        bounds = (min(rows, default=0), max(rows, default=0))
        known = {row for (row,) in self._connection.execute(sql, (found_by, *bounds))}
        return known.intersection(rows)

    def saying(self, text: str, rows: Iterable[int]) -> set[int]:
        """Which of these rows hold a folded text as it stands."""
        found, values = match.holds(text)
        kept: set[int] = set()
        for piece in _pieces(list(rows)):
            sql = f"SELECT t.row FROM texts t WHERE t.row IN ({_marks(piece)}) AND {found}"  # noqa: S608
            kept |= {row for (row,) in self._connection.execute(sql, (*piece, *values))}
        return kept

    def titles(self, rows: Iterable[int]) -> Mapping[int, list[str]]:
        """The title, aliases and file name of these rows, folded."""
        found: dict[int, list[str]] = {}
        for piece in _pieces(list(rows)):
            sql = f"SELECT row, title FROM texts WHERE row IN ({_marks(piece)})"  # noqa: S608
            found |= {row: title.split("\n") for row, title in self._connection.execute(sql, piece)}
        return found


def _pieces(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), _PIECE):
        yield rows[start : start + _PIECE]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
