"""Search by text: which notes hold a query's terms, and how well."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from khiip_indexer.lexical import match
from khiip_indexer.lexical.lookup import Asked, Condition, Lookup, Ranked
from khiip_indexer.lexical.postings import Kept
from khiip_indexer.lexical.terms import Term, Terms
from khiip_indexer.lexical.weights import WEIGHTS, Weights

# So many notes that hold every term are looked through for the whole query as it stands.
_LOOKED_THROUGH = 100
_EDGES = "\"'()[]{}<>,;:!?¿¡.…。、「」『』 "
_NEARLY = 1 - 1e-6
_STEM = 3  # a longer word of a title is also meant by a form of it with an ending
# What FTS5 takes for a term's idf where it comes to nothing, and the part of ours that it gets.
_FTS5_LEAST = 1e-6
_COMMON = 0.3
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """How a note matches; `score` is in [0, 1], and `share` is how much of the query it holds.

    `meant` when the query is its title, or a long text that it holds; `fts` when words match,
    `substring` when the text was also, or only, found as it stands, inside of words too;
    `verbatim` when it holds the whole of a sentence, or the query is its title.
    """

    score: float
    fts: bool
    substring: bool
    verbatim: bool
    share: float = 1.0
    meant: bool = False


@dataclass(slots=True)
class _Found:
    """What is known so far: what words found, and what is held of the query inside of words."""

    ranked: dict[int, Ranked]
    whole: float
    inside: dict[int, float] = field(default_factory=dict)
    as_typed: set[int] = field(default_factory=set)

    def add_inside(self, rows: Iterable[int], weight: float) -> None:
        for row in rows:
            self.inside[row] = self.inside.get(row, 0.0) + weight

    def raw(self, row: int) -> float:
        known = self.ranked.get(row)
        return known.raw if known else 0.0

    def share(self, row: int) -> float:
        known = self.ranked.get(row)
        held = max(known.held if known else 0.0, self.inside.get(row, 0.0))
        return min(1.0, held / self.whole) if self.whole else 0.0

    def is_full(self, row: int) -> bool:
        return self.share(row) >= _NEARLY

    @property
    def rows(self) -> list[int]:
        """Every row once: ranked ones in their order, then by what they hold inside of words."""
        rest = [row for row in self.inside if row not in self.ranked]
        return [*self.ranked, *sorted(rest, key=lambda row: (-self.inside[row], -row))]


@dataclass(frozen=True, slots=True)
class _Plan:
    """The terms that are ranked by, those that are left out or cut short, and how rare each is."""

    used: tuple[Term, ...]
    limited: tuple[Term, ...]
    counts: Mapping[Term, int]
    notes: int
    times: Mapping[Term, int]

    def weight(self, term: Term) -> float:
        return rarity(self.notes, self.counts.get(term, 0))


class LexicalSearch:
    """Finds notes by the words of a query in a few bounded reads.

    `kept` is what earlier searches have read over a cache that is still the same.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        weights: Weights = WEIGHTS,
        kept: Kept | None = None,
    ) -> None:
        self._connection = connection
        self._weights = weights
        self._kept = kept or Kept()

    def run(self, terms: Terms, condition: Condition, pool: int) -> dict[int, LexicalHit]:
        """The best `pool` notes that hold any of the terms and fit the condition, best first.

        `condition` is on `captures c`, as `storage.conditions.where` gives it.
        """
        if not terms.items or pool < 1:
            return {}
        lookup = Lookup(self._connection, condition, self._weights, self._kept)
        plan = _plan(lookup, terms, self._weights.budget)
        found = self._by_words(lookup, plan, pool)
        self._fill(lookup, plan, found, pool)
        self._inside(lookup, plan, terms, found, pool)
        named, verbatim = _verbatim(lookup, terms, found)
        scores = self._scores(found, _kept(lookup, _needed(terms, plan), found), verbatim)
        order = sorted(scores, key=lambda row: (row not in verbatim, -scores[row], -row))[:pool]
        return {
            row: LexicalHit(
                score=scores[row],
                fts=row in found.ranked,
                substring=row in found.inside or row in verbatim,
                verbatim=row in verbatim,
                share=found.share(row),
                meant=row in (verbatim if terms.long else named),
            )
            for row in order
        }

    def run_match(self, expression: str, condition: Condition, pool: int) -> dict[int, LexicalHit]:
        """The best `pool` notes for an FTS5 expression that `match.check_fts5` has let through."""
        lookup = Lookup(self._connection, condition, self._weights, self._kept)
        ranked = lookup.ranked([Asked(expression, 1.0, self._weights.budget)], 1.0, pool)
        best = max((each.raw for each in ranked.values()), default=0.0)
        return {
            row: LexicalHit(_part(each.raw, best), True, False, False)
            for row, each in ranked.items()
        }

    def titled(self, terms: Terms, rows: Iterable[int]) -> set[int]:
        """Which of these notes have most of the query in their title."""
        lookup = Lookup(self._connection, ("1", []), self._weights, self._kept)
        least = self._weights.title_share
        return {row for row, lines in lookup.titles(rows).items() if _in_title(terms, lines, least)}

    def _by_words(self, lookup: Lookup, plan: _Plan, pool: int) -> _Found:
        """What the words find, all terms at once."""
        budget = self._weights.budget
        every = lookup.documents()
        asked = [
            Asked(
                match.word_match(term),
                plan.weight(term),
                budget,
                times=plan.times.get(term, 1) * lifted(every, plan.counts[term]),
            )
            for term in plan.used
            if plan.counts[term]
        ]
        whole = sum(plan.weight(term) for term in plan.used)
        there = [term for term, count in plan.counts.items() if count]
        if len(there) > 1 and plan.limited and len(asked) == 1:
            # All of them are everywhere: notes that hold all at once come first.
            together = match.all_of(match.word_match(term) for term in there)
            asked.append(Asked(together, 0.0, budget, counts=False))
        return _Found(lookup.ranked(asked, whole, pool), whole)

    def _fill(self, lookup: Lookup, plan: _Plan, found: _Found, pool: int) -> None:
        """Add notes for terms that were left out, where the others find too few."""
        for term in plan.limited:
            if len(found.ranked) >= pool:
                return
            for row in lookup.let_in(match.word_match(term), pool):
                found.ranked.setdefault(row, Ranked(0.0, 0.0))

    def _inside(self, lookup: Lookup, plan: _Plan, terms: Terms, found: _Found, pool: int) -> None:
        """Add what holds a term inside of words: short of enough hits, or where only that tells."""
        enough = len(found.ranked) >= pool
        if not enough and len(terms.items) > 1 and len(terms.text) >= match.GRAM:
            # Words that were broken off, as by a selection with the mouse.
            found.as_typed = set(lookup.inside(terms.text, pool))
            found.add_inside(found.as_typed, found.whole)
        for term in terms.strong:
            literal = term.kind == "literal"
            if term.kind == "run" or (enough and not literal):
                continue
            if len(term.text) < match.GRAM and not literal and found.ranked:
                continue  # as words they were found, and looking into all texts is slow
            rows = lookup.inside(term.text, pool)
            if literal:
                found.whole += rarity(plan.notes, len(rows))
                _lift(found, rows, rarity(plan.notes, len(rows)))
            found.add_inside(rows, rarity(plan.notes, len(rows)) if literal else plan.weight(term))

    def _scores(
        self, found: _Found, rows: list[int], verbatim: Collection[int]
    ) -> dict[int, float]:
        best = max((found.raw(row) for row in rows), default=0.0)
        ceiling = self._weights.below_verbatim if verbatim else 1.0
        scores = {row: min(ceiling, self._score(found, row, best)) for row in rows}
        return scores | dict.fromkeys(verbatim, 1.0)

    def _score(self, found: _Found, row: int, best: float) -> float:
        known = found.ranked.get(row)
        part = self._weights.substring if known is None else _part(known.raw, best)
        return part * (1 - self._weights.bonus + self._weights.bonus * found.share(row))


def rarity(notes: int, holding: int) -> float:
    """What a term tells by being in so few of all notes: BM25's idf, always above 0."""
    holding = min(holding, notes)
    return math.log1p((notes - holding + 0.5) / (holding + 0.5))


def lifted(notes: int, holding: int) -> float:
    """By what FTS5's BM25 of a term is multiplied, so that a common word still tells a little.

    FTS5's idf is next to nothing from half of the notes on, and all that a word finds there
    would score 0 beside a rarer one.
    """
    theirs = max(_FTS5_LEAST, math.log(max(1.0, (notes - holding + 0.5) / (holding + 0.5))))
    return max(1.0, _COMMON * rarity(notes, holding) / theirs)


def _part(raw: float, best: float) -> float:
    return max(0.0, raw / best) if best > 0 else 1.0


def _lift(found: _Found, rows: Iterable[int], weight: float) -> None:
    """Let a literal add to what words gave: it is what tells `C++` from `c`."""
    for row in rows:
        known = found.ranked.get(row)
        if known is not None:
            found.ranked[row] = Ranked(known.raw + weight, known.held + weight)


def _plan(lookup: Lookup, terms: Terms, budget: int) -> _Plan:
    """Rank by the rarest terms that the budget pays for, at least one that is there.

    What goes beyond is left out: it says little, and ranking it costs the most.
    """
    counts = {
        term: lookup.count(found_by, budget)
        for term in terms.strong
        if (found_by := match.word_match(term))
    }
    used: list[Term] = []
    spent = 0
    for term in sorted(counts, key=lambda term: counts[term]):
        if spent and spent + counts[term] > budget:
            break
        used.append(term)
        spent += counts[term]
    limited = tuple(term for term in counts if term not in used or counts[term] > budget)
    return _Plan(tuple(used), limited, counts, lookup.notes(), terms.times)


def _verbatim(lookup: Lookup, terms: Terms, found: _Found) -> tuple[set[int], set[int]]:
    """Rows that have the whole query as their title, and with those that hold it as a sentence."""
    text = terms.text.strip(_EDGES)
    full = [row for row in found.rows if found.is_full(row)]
    if not text or not full:
        return set(), set()
    looked = full[:_LOOKED_THROUGH]
    named = {row for row, lines in lookup.titles(looked).items() if text in lines}
    rows = set(named)
    if terms.sentence:
        many = len(full) > len(looked)
        rows |= set(lookup.inside(text, len(looked))) if many else lookup.saying(text, looked)
    return named, rows


def _needed(terms: Terms, plan: _Plan) -> list[list[Term]]:
    """For each short word that a note is to hold, what does as well: words that are as rare."""
    counts = plan.counts
    return [
        [need, *(term for term in counts if term != need and counts[term] <= counts[need])]
        if need in counts
        else [need]
        for need in terms.needed
    ]


def _kept(lookup: Lookup, needed: Sequence[Sequence[Term]], found: _Found) -> list[int]:
    """All rows; or where some hold every term, those with one of each that is needed."""
    rows = found.rows
    if not needed or not any(found.is_full(row) for row in rows):
        return rows
    kept = set(rows)
    for terms in needed:
        kept &= set().union(*(_holding(lookup, term, rows) for term in terms))
    return [row for row in rows if row in kept or row in found.as_typed] or rows


def _holding(lookup: Lookup, term: Term, rows: Sequence[int]) -> set[int]:
    found_by = match.word_match(term)
    return (lookup.holding(found_by, rows) if found_by else set()) or lookup.saying(term.text, rows)


def _in_title(terms: Terms, lines: list[str], least: float) -> bool:
    text = "\n".join(lines)
    words = _WORDS.findall(text)
    there = sum(_is_in(term, text, words) for term in terms.strong)
    return there >= max(1.0, least * len(terms.strong))


def _is_in(term: Term, text: str, words: list[str]) -> bool:
    if term.kind != "word":
        return term.text in text
    return any(
        word.startswith(term.text) or (len(word) > _STEM and term.text.startswith(word))
        for word in words
    )
