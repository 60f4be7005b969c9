"""Where a query's terms stand in a text, and the stretch of it that shows them best; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from khiip_indexer.lexical.fold import fold_map, joins
from khiip_indexer.lexical.scripts import bigrams, word_pattern
from khiip_indexer.lexical.stems import stems
from khiip_indexer.lexical.terms import SHORT, Terms

SNIPPET_CHARS = 300
_LEAD = 80
_SLACK = 30  # so far a cut may move to fall between words
_WHOLE = -1  # the number of the whole query among its terms


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text that one of the query's terms matches; `term` is its number."""

    start: int
    end: int
    term: int


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a text with its marked ranges in code points, and where in the text it begins."""

    text: str
    ranges: tuple[tuple[int, int], ...]
    start: int


class Marker:
    """Finds a query's terms in folded texts: words by their stems, all else as it stands."""

    def __init__(self, terms: Terms) -> None:
        self._words: dict[str, int] = {}
        self._exact: dict[str, int] = {}
        self._whole = terms.text if terms.sentence else ""
        for number, term in enumerate(terms.strong):
            if term.kind == "literal":
                self._exact.setdefault(term.text, number)
            elif term.kind == "run":
                pairs = bigrams(term.text)[:-1] if len(term.text) > SHORT else [term.text]
                if len(pairs) == 1:  # longer ones are there as their pairs
                    self._exact.setdefault(pairs[0], number)
            else:
                for piece in word_pattern().finditer(term.text):
                    self._words.setdefault(piece[0], number)
        self.count = len(terms.strong)

    @cached_property
    def _stems(self) -> dict[str, int]:
        return {stem: self._words[word] for word, stem in stems(self._words).items()}

    @cached_property
    def _alike(self) -> re.Pattern[str] | None:
        """Words that may have one of the stems: they begin as it does, but for its last letter.

        `flies` and `fly` have the stem `fli`, `hoping` has `hope`.
        """
        roots = {stem[:-1] or stem for stem in self._stems}
        if not roots:
            return None
        either = "|".join(re.escape(root) for root in sorted(roots, key=len, reverse=True))
        return re.compile(f"(?<![^\\W_])(?:{either})[^\\W_]*")

    @cached_property
    def _sentence(self) -> re.Pattern[str] | None:
        words = self._whole.strip("\"'.,;:!?…。、 ").split()
        return re.compile(r"\s+".join(re.escape(word) for word in words)) if words else None

    def known(self, texts: Iterable[str]) -> dict[str, int]:
        """The words of these folded texts that match, with the number of their term."""
        if self._alike is None:
            return {}
        words = {word for text in texts for word in self._alike.findall(text)}
        found = stems(words)
        return {word: self._stems[s] for word, s in found.items() if s in self._stems}

    def spans(self, text: str, known: Mapping[str, int]) -> list[Span]:
        """Every match in a folded text, by place; `known` is what `known` gave for it."""
        found = list(self._spans(text, known))
        seen = {span.term for span in found}
        for word, number in self._words.items():
            if number not in seen and len(word) > SHORT:  # inside of words, where nowhere else
                found += [Span(at, at + len(word), number) for at in _places(text, word)]
        return sorted(found, key=lambda span: (span.start, -span.end))

    def _spans(self, text: str, known: Mapping[str, int]) -> Iterator[Span]:
        if self._alike is not None and known:
            for match in self._alike.finditer(text):
                if match[0] in known:
                    yield Span(match.start(), match.end(), known[match[0]])
        for exact, number in self._exact.items():
            for at in _places(text, exact):
                yield Span(at, at + len(exact), number)
        if self._sentence is not None and (whole := self._sentence.search(text)):
            yield Span(whole.start(), whole.end(), _WHOLE)


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at != -1:
        yield at
        at = text.find(part, at + 1)


def marked(text: str, marker: Marker, *, known: Mapping[str, int] | None = None) -> list[Span]:
    """Every match in a text as it is written; places count its code points."""
    folded, places = fold_map(text)
    words = marker.known([folded]) if known is None else known
    found: list[Span] = []
    for span in marker.spans(folded, words):
        start, end = places[span.start], span.end
        # A match may end within what one character was folded to: all of it is marked.
        while end < len(folded) and places[end] == places[span.end - 1]:
            end += 1
        found.append(Span(start, places[end], span.term))
    return found


def snippet(text: str, spans: Sequence[Span], chars: int = SNIPPET_CHARS) -> Snippet:
    """About `chars` characters of a text around most of its matches, `…` where it was cut."""
    start, end = _window(text, spans, chars)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    before = "…" if text[:start].strip() else ""
    after = "…" if text[end:].strip() else ""
    inside = [span for span in spans if start <= span.start and span.end <= end]
    shift = len(before) - start
    ranges = [(span.start + shift, span.end + shift) for span in inside]
    return Snippet(f"{before}{text[start:end]}{after}", _merged(ranges), start)


def _merged(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _window(text: str, spans: Sequence[Span], chars: int) -> tuple[int, int]:
    if len(text) <= chars:
        return 0, len(text)
    if not spans:
        return 0, _end(text, chars, 0)
    first, last = _densest(spans, max(chars - _LEAD, chars // 2))
    start = max(0, min(first - min(_LEAD, max(0, chars - (last - first)) // 2), len(text) - chars))
    start = _start(text, start, first)
    return start, _end(text, start + chars, min(last, start + chars))


def _densest(spans: Sequence[Span], room: int) -> tuple[int, int]:
    """The stretch of at most `room` characters, from a match on, with the most terms in it."""
    best: tuple[int, int, int, int] | None = None
    behind = 0
    for place, span in enumerate(spans):
        behind = max(behind, place)
        while behind < len(spans) and spans[behind].start < span.start + room:
            behind += 1
        inside = spans[place:behind]
        numbers = {each.term for each in inside}
        value = (len(numbers) + 2 * (_WHOLE in numbers), len(inside))
        if best is None or value > best[:2]:
            last = max(min(each.end, span.start + room) for each in inside)
            best = (*value, span.start, last)
    return (best[2], best[3]) if best else (0, 0)


def _start(text: str, start: int, before: int) -> int:
    """A place at or after `start` where a word begins, if one is near, and never past `before`."""
    if start == 0:
        return 0
    for at in range(start, min(before, start + _SLACK) + 1):
        if text[at - 1].isspace():
            return at
    while start < before and joins(text[start]):
        start += 1
    return start


def _end(text: str, end: int, after: int) -> int:
    """A place at or before `end` where a word ends, if one is near, and never before `after`."""
    if end >= len(text):
        return len(text)
    for at in range(end, max(after, end - _SLACK), -1):
        if text[at].isspace():
            return at
    while end < len(text) and joins(text[end]):
        end += 1
    return end
