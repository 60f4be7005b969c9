"""What a term is found in: reads of the full-text tables, each bounded; thin."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from khiip_indexer.lexical import match
from khiip_indexer.lexical.terms import Term
from khiip_indexer.lexical.weights import Weights

Condition = tuple[str, list[object]]
_PIECE = 500


class Lookup:
    """Reads for one search; `condition` is on `captures c` and holds for what `allowed` gives."""

    def __init__(
        self, connection: sqlite3.Connection, condition: Condition, weights: Weights
    ) -> None:
        self._connection = connection
        self._condition, self._values = condition
        columns = ", ".join(str(weight) for weight in weights.columns)
        self._ranked = (
            f"SELECT rowid, -bm25(words, {columns}) FROM words WHERE words MATCH ? "  # noqa: S608
            "ORDER BY rowid DESC LIMIT ?"
        )

    def notes(self) -> int:
        """About how many notes there are."""
        return int(self._connection.execute("SELECT MAX(row) FROM texts").fetchone()[0] or 0)

    def count(self, found_by: str, most: int) -> int:
        """How many notes a MATCH string finds, counted up to one more than `most`."""
        sql = "SELECT COUNT(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
        return int(self._connection.execute(sql, (found_by, most + 1)).fetchone()[0])

    def ranked(self, found_by: str, most: int) -> dict[int, float]:
        """BM25 by row, higher is better; of more than `most` rows the newest."""
        return dict(self._connection.execute(self._ranked, (found_by, most)).fetchall())

    def inside(self, text: str, most: int) -> list[int]:
        """Rows that hold a folded text anywhere, also inside of words, and that are let in."""
        found, values = match.holds(text)
        grams = match.gram_match(text)
        source = "texts t" if grams is None else "grams JOIN texts t ON t.row = grams.rowid"
        first = "" if grams is None else "grams MATCH ? AND "
        sql = (
            f"SELECT t.row FROM {source} JOIN captures c ON c.row = t.row "  # noqa: S608
            f"WHERE {first}{found} AND {self._condition} LIMIT ?"
        )
        given = [] if grams is None else [grams]
        rows = self._connection.execute(sql, (*given, *values, *self._values, most))
        return [row for (row,) in rows]

    def let_in(self, found_by: str, most: int) -> list[int]:
        """Rows that a MATCH string finds and that are let in, without their BM25."""
        sql = (
            "SELECT c.row FROM words JOIN captures c ON c.row = words.rowid "  # noqa: S608
            f"WHERE words MATCH ? AND {self._condition} LIMIT ?"
        )
        rows = self._connection.execute(sql, (found_by, *self._values, most))
        return [row for (row,) in rows]

    def allowed(self, rows: Iterable[int], most: int) -> list[int]:
        """The first `most` of these rows that are let in, in their order."""
        kept: list[int] = []
        for piece in _pieces(list(rows)):
            sql = (
                f"SELECT c.row FROM captures c WHERE c.row IN ({_marks(piece)}) "  # noqa: S608
                f"AND {self._condition}"
            )
            known = {row for (row,) in self._connection.execute(sql, (*piece, *self._values))}
            kept += [row for row in piece if row in known]
            if len(kept) >= most:
                break
        return kept[:most]

    def titles(self, rows: Sequence[int]) -> dict[int, list[str]]:
        """The title, aliases and file name of these rows, folded."""
        found: dict[int, list[str]] = {}
        for piece in _pieces(rows):
            sql = f"SELECT row, title FROM texts WHERE row IN ({_marks(piece)})"  # noqa: S608
            found |= {row: title.split("\n") for row, title in self._connection.execute(sql, piece)}
        return found

    def holding(self, text: str, rows: Sequence[int]) -> set[int]:
        """Which of these rows hold a folded text as it stands."""
        found, values = match.holds(text)
        kept: set[int] = set()
        for piece in _pieces(rows):
            sql = f"SELECT t.row FROM texts t WHERE t.row IN ({_marks(piece)}) AND {found}"  # noqa: S608
            kept |= {row for (row,) in self._connection.execute(sql, (*piece, *values))}
        return kept

    def counted(self, terms: Iterable[Term], most: int) -> dict[Term, int]:
        """How many notes hold each term as a word."""
        return {
            term: self.count(found_by, most)
            for term in terms
            if (found_by := match.word_match(term))
        }


def _pieces(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(rows), _PIECE):
        yield rows[start : start + _PIECE]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
