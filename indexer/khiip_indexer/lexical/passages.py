"""The passage of each hit that shows best why it was found."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from khiip_indexer.lexical.fold import fold
from khiip_indexer.lexical.highlight import SNIPPET_CHARS, Marker, Span, marked, snippet
from khiip_indexer.lexical.terms import Terms

Cosines = Mapping[int, Mapping[int, float]]
_PIECE = 500
_MORE = 0.05  # what each further match of a term adds to the first
_WHOLE_WEIGHT = 3.0
_NEAR = 0.5  # what a cosine of 1 weighs against a rare term
_GAP = "\n\n"
_PROPERTY = re.compile(r"[a-z][\w -]{0,40}: \S")  # as a note's properties stand before its text
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PassageHit:
    """Where a hit matches: a cut of its best passage, `ranges` in code points of `text`.

    `line` counts from 1 in the file, None where it is not known; `score` is the cosine of the
    passage, None where that was not asked for. `ranges` is empty where nothing matches literally.
    """

    text: str
    heading: str | None
    line: int | None
    score: float | None
    ranges: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True)
class _Candidate:
    ordinal: int
    heading: str | None
    line: int | None
    text: str
    folded: str
    spans: list[Span] = field(default_factory=list)


def best_passages(
    connection: sqlite3.Connection,
    rows: Sequence[int],
    terms: Terms,
    cosines: Cosines | None = None,
    chars: int = SNIPPET_CHARS,
) -> dict[int, PassageHit]:
    """The best passage of each of these captures, by row; those without any text are left out.

    `cosines` gives by row and ordinal how near a passage is to the query, where that is known.
    """
    marker = Marker(terms)
    candidates = {row: list(each) for row, each in _read(connection, rows)}
    known = marker.known(each.folded for of_row in candidates.values() for each in of_row)
    found: dict[int, PassageHit] = {}
    for row, of_row in candidates.items():
        near = (cosines or {}).get(row, {})
        for each in of_row:
            each.spans = marker.spans(each.folded, known)
        best = _best(of_row, near)
        found[row] = _hit(best, marked(best.text, marker, known=known), near, chars)
    return {row: found[row] for row in rows if row in found}


def _read(
    connection: sqlite3.Connection, rows: Sequence[int]
) -> Iterator[tuple[int, Iterator[_Candidate]]]:
    for start in range(0, len(rows), _PIECE):
        piece = rows[start : start + _PIECE]
        stored = connection.execute(
            "SELECT p.row, c.title, c.author, p.ordinal, p.heading, p.line, p.text "  # noqa: S608
            "FROM passages p CROSS JOIN captures c ON c.row = p.row "
            f"WHERE p.row IN ({', '.join('?' * len(piece))}) ORDER BY p.row, p.ordinal",
            piece,
        )
        for row, group in groupby(stored, key=lambda each: each[0]):
            yield row, (_candidate(*each[1:]) for each in group)


def _candidate(  # noqa: PLR0913, PLR0917
    title: str, author: str | None, ordinal: int, heading: str | None, line: int | None, text: str
) -> _Candidate:
    bare = _bare_head(text, title, author) if ordinal == 0 else _bare(text, title)
    return _Candidate(ordinal, heading, line, bare, fold(bare))


def _bare_head(text: str, title: str, author: str | None) -> str:
    """A note's own text for the model without its title and author, if there is more than that."""
    lines = text.split("\n")
    for name in (title, author):
        if name and len(lines) > 1 and lines[0].strip() == name.strip():
            del lines[0]
    body = next((at for at, line in enumerate(lines) if not _PROPERTY.match(line)), 0)
    return "\n".join(lines[body:]).strip()


def _bare(text: str, title: str) -> str:
    """A passage without the title and the heading path that were put in front for the model."""
    head, gap, rest = text.partition(_GAP)
    first, _, path = head.partition("\n")
    added = first and " ".join(title.split()).startswith(first) and "\n" not in path
    return rest if gap and rest and added else text


def _best(candidates: Sequence[_Candidate], near: Mapping[int, float]) -> _Candidate:
    """The one with the most of the query, rare terms first; the nearest by meaning among equals."""
    in_how_many: dict[int, int] = {}
    for each in candidates:
        for number in {span.term for span in each.spans}:
            in_how_many[number] = in_how_many.get(number, 0) + 1
    weights = {
        number: _WHOLE_WEIGHT if number < 0 else math.log1p(len(candidates) / many)
        for number, many in in_how_many.items()
    }
    return max(candidates, key=lambda each: (_value(each, weights, near), -each.ordinal))


def _value(each: _Candidate, weights: Mapping[int, float], near: Mapping[int, float]) -> float:
    counts: dict[int, int] = {}
    for span in each.spans:
        counts[span.term] = counts.get(span.term, 0) + 1
    matched = sum(
        weights[number] * (1 + _MORE * min(count - 1, 4)) for number, count in counts.items()
    )
    return matched + _NEAR * near.get(each.ordinal, 0.0)


def _hit(
    best: _Candidate, spans: Sequence[Span], near: Mapping[int, float], chars: int
) -> PassageHit:
    cut = snippet(best.text, spans, chars)
    line = best.line
    if line is not None:
        first = next((span.start for span in spans if span.start >= cut.start), cut.start)
        line += best.text.count("\n", 0, first)
    return PassageHit(cut.text, best.heading, line, near.get(best.ordinal), cut.ranges)


def located(hit: PassageHit, source: str) -> PassageHit:
    """The hit with the exact line of its first match, where the note's source shows it.

    Stored passages have no markup, and the first one has no line at all: the line is that of the
    file which holds the most of the words around the match; the stored line decides among equals.
    """
    wanted = _words_around(hit)
    if not wanted:
        return hit
    first = wanted[0]
    best, most = hit.line, 0
    for number, line in enumerate(source.split("\n"), start=1):
        folded = fold(line)
        if first not in folded:
            continue
        held = set(_WORDS.findall(folded))
        same = 1 + sum(word in held for word in wanted[1:])
        nearer = best is None or hit.line is None or abs(number - hit.line) < abs(best - hit.line)
        if same > most or (same == most and hit.line is not None and nearer):
            best, most = number, same
    return replace(hit, line=best)


def _words_around(hit: PassageHit) -> list[str]:
    """The first marked text, or the first word, and the words of the line that it stands on."""
    text = hit.text.strip("…")
    shift = len(hit.text) - len(hit.text.lstrip("…"))
    start, end = hit.ranges[0] if hit.ranges else (0, 0)
    start, end = max(0, start - shift), max(0, end - shift)
    begin = text.rfind("\n", 0, start) + 1
    finish = text.find("\n", end)
    around = _WORDS.findall(fold(text[begin : finish if finish != -1 else len(text)]))
    core = fold(text[start:end]).split() or around
    return [*core[:1], *around]
