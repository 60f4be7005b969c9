"""BERT's word pieces of plain text, a third of the library's time; pure.

Plain is ASCII without control characters: what stands there is what the model reads, in lower
case, and a word ends at every space and sign. Other text needs the library's normaliser.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from khiip_indexer.types import Spans

UNKNOWN = "[UNK]"
LONGEST_WORD = 100  # characters; the model takes a longer word for an unknown one
_NOT_PLAIN = re.compile(r"[^\t\n\r -~]")
_WORD = re.compile(rf"[a-z0-9]{{1,{LONGEST_WORD}}}|[^\sa-z0-9]")
_REMEMBERED = 4096

# The number of a piece, and where it stands in its word.
_Piece = tuple[int, int, int]


class PlainPieces:
    """Cuts plain text by a vocabulary: most words are in it, the others are put together."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers
        self._cut = lru_cache(_REMEMBERED)(self._put_together)

    def reads(self, text: str) -> bool:
        """Whether this text is plain, and the vocabulary has a word for what it does not know."""
        return UNKNOWN in self._numbers and _NOT_PLAIN.search(text) is None

    def ids(self, text: str) -> list[int]:
        """The number of every piece."""
        ids: list[int] = []
        for word in _WORD.findall(text.lower()):
            number = self._numbers.get(word)
            if number is None:
                ids += [part for part, _, _ in self._cut(word)]
            else:
                ids.append(number)
        return ids

    def spans(self, text: str) -> Spans:
        """The (start, end) of every piece."""
        spans: list[tuple[int, int]] = []
        for match in _WORD.finditer(text.lower()):
            if match[0] in self._numbers:
                spans.append(match.span())
            else:
                at = match.start()
                spans += [(at + start, at + end) for _, start, end in self._cut(match[0])]
        return spans

    def _put_together(self, word: str) -> tuple[_Piece, ...]:
        """The longest piece that begins the word, then the longest that goes on, and so on."""
        pieces: list[_Piece] = []
        start = 0
        while start < len(word):
            piece = self._longest(word, start)
            if piece is None:
                return ((self._numbers[UNKNOWN], 0, len(word)),)
            pieces.append(piece)
            start = piece[2]
        return tuple(pieces)

    def _longest(self, word: str, start: int) -> _Piece | None:
        inside = "##" if start else ""
        for end in range(len(word), start, -1):
            number = self._numbers.get(inside + word[start:end])
            if number is not None:
                return number, start, end
        return None
