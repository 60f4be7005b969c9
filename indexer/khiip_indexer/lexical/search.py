"""Search by text: which notes hold a query's terms, and how well."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from khiip_indexer.lexical import match
from khiip_indexer.lexical.lookup import Condition, Lookup
from khiip_indexer.lexical.terms import Term, Terms
from khiip_indexer.lexical.weights import WEIGHTS, Weights

# So many notes that hold every term are looked through for the whole query word by word.
_LOOKED_THROUGH = 200
_EDGES = "\"'()[]{}<>,;:!?¿¡.…。、「」『』 "
_NEARLY = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """How a note matches; `score` is in [0, 1], and `share` is how much of the query it holds.

    `fts` when words match, `substring` when the text stands somewhere in it, if inside of words;
    `title` when most of the query is in its title; `verbatim` when it holds the whole of a
    sentence, or the query is its title.
    """

    score: float
    fts: bool
    substring: bool
    title: bool
    verbatim: bool
    share: float = 1.0


@dataclass(slots=True)
class _Found:
    """What is known so far: BM25 and share of the query by row, and rows found inside of words."""

    raw: dict[int, float] = field(default_factory=dict)
    held: dict[int, float] = field(default_factory=dict)
    inside: set[int] = field(default_factory=set)
    terms: dict[int, set[Term]] = field(default_factory=dict)
    whole: float = 0.0

    def add(self, term: Term, rows: Mapping[int, float], weight: float) -> None:
        for row, raw in rows.items():
            self.raw[row] = self.raw.get(row, 0.0) + raw
            self._hold(term, row, weight)

    def add_inside(self, term: Term, rows: Iterable[int], weight: float) -> None:
        for row in rows:
            self.inside.add(row)
            if term not in self.terms.get(row, ()):
                self._hold(term, row, weight)
                if term.kind == "literal" and row in self.raw:
                    self.raw[row] += weight  # it is what tells `C++` from `c`

    def _hold(self, term: Term, row: int, weight: float) -> None:
        self.held[row] = self.held.get(row, 0.0) + weight
        self.terms.setdefault(row, set()).add(term)

    def share(self, row: int) -> float:
        return min(1.0, self.held.get(row, 0.0) / self.whole) if self.whole else 0.0


class LexicalSearch:
    """Finds notes by the words of a query in a few bounded reads."""

    def __init__(self, connection: sqlite3.Connection, weights: Weights = WEIGHTS) -> None:
        self._connection = connection
        self._weights = weights

    def run(self, terms: Terms, condition: Condition, pool: int) -> dict[int, LexicalHit]:
        """The best `pool` notes that hold any of the terms and fit the condition, by row.

        `condition` is on `captures c`, as `storage.conditions.where` gives it.
        """
        if not terms.items or pool < 1:
            return {}
        lookup = Lookup(self._connection, condition, self._weights)
        found, limited = self._by_words(lookup, terms, pool)
        rows = lookup.allowed(self._in_order(found), pool)
        if len(rows) < pool:
            for each in limited:
                found.add(
                    each, dict.fromkeys(lookup.let_in(match.word_match(each), pool), 1e-6), 0.0
                )
        self._by_substrings(lookup, terms, found, pool, enough=len(rows) >= pool)
        verbatim = _verbatim(lookup, terms, found)
        order = [*verbatim, *(row for row in self._in_order(found) if row not in verbatim)]
        rows = lookup.allowed(_kept(terms, found, order), pool)
        return self._hits(found, rows, verbatim, lookup.titles(rows))

    def run_match(self, expression: str, condition: Condition, pool: int) -> dict[int, LexicalHit]:
        """The best `pool` notes for an FTS5 expression that `match.check_fts5` has let through."""
        lookup = Lookup(self._connection, condition, self._weights)
        ranked = lookup.ranked(expression, self._weights.budget)
        rows = lookup.allowed(sorted(ranked, key=lambda row: (-ranked[row], row)), pool)
        best = max((ranked[row] for row in rows), default=0.0)
        return {
            row: LexicalHit(ranked[row] / best if best > 0 else 1.0, True, False, False, False)
            for row in rows
        }

    def _by_words(self, lookup: Lookup, terms: Terms, pool: int) -> tuple[_Found, list[Term]]:
        """What the words find, rare ones first, and the terms that were not followed to their end.

        Terms beyond the budget are left out: they say little, and ranking them costs the most.
        """
        budget = self._weights.budget
        counts = lookup.counted(terms.strong, budget)
        used, limited = _within(counts, budget)
        notes = lookup.notes()
        found = _Found()
        for term in used:
            weight = rarity(notes, counts[term])
            found.whole += weight
            if counts[term]:
                found.add(term, lookup.ranked(match.word_match(term), budget), weight)
        if len(used) == 1 and used[0] in limited and len(counts) > 1:
            # All of them are everywhere: notes that hold all at once come first.
            together = lookup.ranked(
                match.all_of(match.word_match(term) for term in counts), budget
            )
            found.add(used[0], together, 0.0)
        return found, limited

    def _by_substrings(
        self, lookup: Lookup, terms: Terms, found: _Found, pool: int, *, enough: bool
    ) -> None:
        """What holds a term inside of words; short of enough hits, or where only that tells."""
        notes = lookup.notes()
        for term in terms.strong:
            if term.kind == "run" or (enough and term.kind != "literal"):
                continue
            if len(term.text) < match.GRAM and term.kind != "literal" and found.raw:
                continue  # as words they were found, and looking into all texts is slow
            rows = lookup.inside(term.text, pool)
            weight = rarity(notes, len(rows))
            if term.kind == "literal":
                found.whole += weight
            found.add_inside(term, rows, weight)

    def _in_order(self, found: _Found) -> list[int]:
        """Rows by their BM25 and share, best first; those found inside of words after them."""
        scores = {row: raw * self._factor(found.share(row)) for row, raw in found.raw.items()}
        rest = sorted(found.inside - scores.keys(), key=lambda row: (-found.share(row), -row))
        return [*sorted(scores, key=lambda row: (-scores[row], -row)), *rest]

    def _factor(self, share: float) -> float:
        return 1 - self._weights.bonus + self._weights.bonus * share

    def _hits(
        self,
        found: _Found,
        rows: Iterable[int],
        verbatim: Mapping[int, None],
        titles: Mapping[int, list[str]],
    ) -> dict[int, LexicalHit]:
        rows = list(rows)
        best = max((found.raw.get(row, 0.0) for row in rows), default=0.0)
        ceiling = self._weights.below_verbatim if any(row in verbatim for row in rows) else 1.0
        hits: dict[int, LexicalHit] = {}
        for row in rows:
            share = found.share(row)
            raw = found.raw.get(row)
            part = self._weights.substring if raw is None else _part(raw, best)
            score = 1.0 if row in verbatim else min(ceiling, part * self._factor(share))
            hits[row] = LexicalHit(
                score=score,
                fts=raw is not None,
                substring=row in found.inside or row in verbatim,
                title=self._in_title(found, row, titles.get(row, [])),
                verbatim=row in verbatim,
                share=share,
            )
        return dict(sorted(hits.items(), key=lambda item: (-item[1].verbatim, -item[1].score)))

    def _in_title(self, found: _Found, row: int, lines: list[str]) -> bool:
        held = found.terms.get(row, set())
        words = {word for line in lines for word in line.split()}
        text = "\n".join(lines)
        there = sum(term.text in words or term.text in text for term in held)
        return bool(held) and there / len(held) >= self._weights.title_share


def _part(raw: float, best: float) -> float:
    return raw / best if best > 0 else 1.0


def rarity(notes: int, holding: int) -> float:
    """What a term tells by being in so few of all notes: BM25's idf, always above 0."""
    holding = min(holding, notes)
    return math.log1p((notes - holding + 0.5) / (holding + 0.5))


def _within(counts: Mapping[Term, int], budget: int) -> tuple[list[Term], list[Term]]:
    """The rarest terms that the budget pays for, at least one; and those that it cuts short."""
    used: list[Term] = []
    spent = 0
    for term in sorted(counts, key=lambda term: counts[term]):
        if used and spent + counts[term] > budget and counts[used[-1]]:
            break
        used.append(term)
        spent += counts[term]
    limited = [term for term in counts if term not in used or counts[term] > budget]
    return used, limited


def _verbatim(lookup: Lookup, terms: Terms, found: _Found) -> dict[int, None]:
    """Rows that hold the whole query as a sentence, or have it as their title; newest first."""
    text = terms.text.strip(_EDGES)
    full = [row for row in found.held if found.share(row) >= _NEARLY]
    if not text or not full:
        return {}
    full.sort(key=lambda row: -found.raw.get(row, 0.0))
    looked = full[:_LOOKED_THROUGH]
    rows = {row for row, lines in lookup.titles(looked).items() if text in lines}
    if terms.sentence:
        many = len(full) > len(looked)
        rows.update(lookup.inside(text, _LOOKED_THROUGH) if many else lookup.holding(text, looked))
    return dict.fromkeys(sorted(rows, key=lambda row: (-found.raw.get(row, 0.0), -row)))


def _kept(terms: Terms, found: _Found, order: list[int]) -> list[int]:
    """All rows, or where some hold every term those with the needed ones."""
    if not terms.needed or not any(found.share(row) >= _NEARLY for row in order):
        return order
    return [row for row in order if terms.needed <= found.terms.get(row, set())]
