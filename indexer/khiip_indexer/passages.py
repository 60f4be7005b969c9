"""Text cut into passages that fit the model's window; pure.

A passage is its title and heading path, a blank line, and a stretch of text. Token counts come
from `spans`, a function that gives the offsets of each word piece without special tokens; a cut
falls between pieces, at the best place near an even share: between segments, at a sentence's
end, between words, and only then inside a word.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from khiip_indexer.types import Passage, Segment, Spans

SPECIAL_TOKENS = 2
SMALLEST_WINDOW = 8
_TEXT_SHARE = 0.6
_EARLIEST_CUT = 0.5  # of an even share: a sentence that ends earlier is not worth the short passage
_GAP = "\n\n"

_SENTENCE_END = re.compile(
    r"[.!?…][\"'”’»)\]]{0,3}(?=\s)"  # a space must follow: 3.14 and example.org do not end
    r"|[。！？｡][」』）”’]{0,3}"
    r"|\n"
)
# Ideographs and CJK punctuation: each is a piece of its own.
_ALONE = re.compile(
    "[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff0f\uff1a-\uff20\uff5f-\uff65"
    "\U00020000-\U0003fa1f]"
)

SpansOf = Callable[[str], Spans]


def cut_passages(
    title: str, segments: Iterable[Segment], spans: SpansOf, window: int
) -> list[Passage]:
    """Cut a capture's segments into passages of at most `window - 2` word pieces.

    `spans(text)` gives the (start, end) code-point offsets of each piece, without special
    tokens; it is called once a segment and once a heading path. Ordinals start at 1. Raises
    ValueError for a window under 8.
    """
    budget = _budget(window)
    passages: list[Passage] = []
    for headings, group in groupby(segments, key=lambda segment: segment.headings):
        run = _join(list(group), spans)
        if not run.starts:
            continue
        prefix, cost = _prefix(title, headings, spans, budget - _text_room(window))
        heading = next((text for text in reversed(headings) if text), None)
        for text, line in _cut(run, budget - cost, spans):
            passages.append(Passage(len(passages) + 1, prefix + text, heading, line))
    return passages


def fit(text: str, spans: SpansOf, window: int) -> tuple[str, bool]:
    """Return the longest prefix that fits the window, cut at a word's end, and whether it was cut.

    Raises ValueError for a window under 8.
    """
    return _fit(text, spans, _budget(window))


def _budget(window: int) -> int:
    if window < SMALLEST_WINDOW:
        raise ValueError(
            f"a window of {window} pieces is too small; {SMALLEST_WINDOW} is the least"
        )
    return window - SPECIAL_TOKENS


def _text_room(window: int) -> int:
    """Pieces that are always left for text, however long the title is."""
    return min(-int(-_TEXT_SHARE * window // 1), window - SPECIAL_TOKENS)


def _fit(text: str, spans: SpansOf, budget: int) -> tuple[str, bool]:
    if len(text) < budget and text.isascii():
        return text, False  # no tokenizer makes more pieces of it than it has letters
    pieces = spans(text)
    if len(pieces) <= budget:
        return text, False
    starts = [start for start, _ in pieces]
    ends = [end for _, end in pieces]
    cut = _word_cut(text, starts, ends, range(budget, budget // 2, -1))
    clean = cut is not None
    cut = budget if cut is None else cut
    head = text[: ends[cut - 1]] if cut else ""
    # A word that is cut may fall into more pieces than it had; a whole word never does.
    while not clean and cut > 0 and len(spans(head)) > budget:
        cut -= 1
        head = text[: ends[cut - 1]] if cut else ""
    return head, True


def _prefix(title: str, headings: tuple[str, ...], spans: SpansOf, room: int) -> tuple[str, int]:
    """Title and heading path with the blank line after them, and what they cost in pieces."""
    title = " ".join(title.split())
    path = [" ".join(text.split()) for text in headings]
    if path and path[0] == title:
        path = path[1:]
    lines = [line for line in (title, " > ".join(text for text in path if text)) if line]
    text = "\n".join(lines) + _GAP if lines else ""
    cost = len(spans(text))
    if cost <= room:
        return text, cost
    return _short_prefix(lines, spans, room)


def _short_prefix(lines: list[str], spans: SpansOf, room: int) -> tuple[str, int]:
    """Cut title and path to an even share each, or keep the title alone where both do not fit."""
    gap = len(spans(_GAP))
    for kept in (lines, lines[:1]):
        share = (room - gap * len(kept)) // len(kept)
        if share < 1:
            continue
        text = "\n".join(_fit(line, spans, share)[0] for line in kept).strip() + _GAP
        cost = len(spans(text))
        if text != _GAP and cost <= room:
            return text, cost
    return "", 0


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring segments under one heading as one text with the offsets of its pieces.

    `seams` are the piece numbers at which a segment begins; `lines` pairs the offset at which a
    segment begins with its line in the file.
    """

    text: str
    starts: list[int]
    ends: list[int]
    seams: list[int]
    sentences: list[int]
    lines: list[tuple[int, int | None]]


def _join(segments: list[Segment], spans: SpansOf) -> _Run:
    gap = spans(_GAP) if len(segments) > 1 else ()
    texts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    seams: list[int] = []
    lines: list[tuple[int, int | None]] = []
    offset = 0
    for segment in segments:
        pieces = spans(segment.text)
        if not pieces:
            continue
        if texts:
            starts.extend(offset + start for start, _ in gap)
            ends.extend(offset + end for _, end in gap)
            offset += len(_GAP)
            seams.append(len(starts))
        lines.append((offset, segment.line))
        starts.extend(offset + start for start, _ in pieces)
        ends.extend(offset + end for _, end in pieces)
        texts.append(segment.text)
        offset += len(segment.text)
    text = _GAP.join(texts)
    return _Run(text, starts, ends, seams, _sentence_cuts(text, starts), lines)


def _sentence_cuts(text: str, starts: list[int]) -> list[int]:
    """Numbers of the pieces before which a sentence or a line has ended, ascending."""
    cuts = (bisect_left(starts, match.end()) for match in _SENTENCE_END.finditer(text))
    return sorted(set(cuts))


def _cut(run: _Run, budget: int, spans: SpansOf) -> Iterator[tuple[str, int | None]]:
    """Yield each passage's text with the line it starts on."""
    line_of = _LineCounter(run)
    count = len(run.starts)
    first = 0
    begin = 0
    while first < count:
        last = _next_cut(run, first, budget)
        end = run.starts[last] if last < count else len(run.text)
        # Only a cut inside a word can change how its parts are split; checking costs a second
        # pass of the tokenizer, so whole words are not checked.
        if _inside_word(run, first) or _inside_word(run, last):
            while last > first + 1 and len(spans(run.text[begin:end].strip())) > budget:
                last = max(first + 1, last - max(1, (last - first) // 8))
                end = run.starts[last]
        text = run.text[begin:end]
        if stripped := text.strip():
            yield stripped, line_of(begin + len(text) - len(text.lstrip()))
        first, begin = last, end


def _next_cut(run: _Run, first: int, budget: int) -> int:
    """Number of the piece before which to cut: the best boundary near an even share of the rest."""
    rest = len(run.starts) - first
    if rest <= budget:
        return len(run.starts)
    passages = -(-rest // budget)
    target = first + -(-rest // passages)
    low = first + max(1, int((target - first) * _EARLIEST_CUT))
    high = first + budget
    for cuts in (run.seams, run.sentences):
        if (cut := _nearest(cuts, low, target, high)) is not None:
            return cut
    order = [*range(target, high + 1), *range(target - 1, low - 1, -1)]
    word = _word_cut(run.text, run.starts, run.ends, order)
    return high if word is None else word


def _nearest(cuts: list[int], low: int, target: int, high: int) -> int | None:
    """The member of `cuts` in [low, high] that is nearest to `target`, the later one of two."""
    at = bisect_left(cuts, target)
    near = [cut for cut in cuts[max(0, at - 1) : at + 1] if low <= cut <= high]
    return min(near, key=lambda cut: (abs(cut - target), -cut), default=None)


def _word_cut(text: str, starts: list[int], ends: list[int], order: Iterable[int]) -> int | None:
    """The first piece number of `order` that begins a word."""
    return next((at for at in order if _is_word_start(text, starts, ends, at)), None)


def _is_word_start(text: str, starts: list[int], ends: list[int], at: int) -> bool:
    if at <= 0 or at >= len(starts):
        return True
    end, start = ends[at - 1], starts[at]
    if start > end:
        return any(char.isspace() for char in text[end:start])
    before, after = text[start - 1], text[start]
    return before.isspace() or after.isspace() or _splits(before) or _splits(after)


def _splits(char: str) -> bool:
    """Whether the tokenizer makes this character a piece of its own, so that a cut is safe."""
    return _ALONE.match(char) is not None


def _inside_word(run: _Run, at: int) -> bool:
    return not _is_word_start(run.text, run.starts, run.ends, at)


class _LineCounter:
    """Lines of ascending offsets of a run; each newline is counted once."""

    def __init__(self, run: _Run) -> None:
        self._text = run.text
        self._offsets = [offset for offset, _ in run.lines]
        self._lines = [line for _, line in run.lines]
        self._segment = -1
        self._offset = 0
        self._newlines = 0

    def __call__(self, offset: int) -> int | None:
        segment = bisect_right(self._offsets, offset) - 1
        if segment != self._segment:
            self._segment = segment
            self._offset, self._newlines = self._offsets[segment], 0
        self._newlines += self._text.count("\n", self._offset, offset)
        self._offset = offset
        line = self._lines[segment]
        return None if line is None else line + self._newlines
