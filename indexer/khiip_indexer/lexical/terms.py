"""A query as terms: what is looked up of it, piece by piece; pure.

A question is an OR of its terms. `C++` and `.md` are also kept as they stand, since their letters
alone would not tell them from other words; `POL-358` and `don't` are their words and a phrase.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from khiip_indexer.lexical.fold import fold
from khiip_indexer.lexical.scripts import bigrams, word_pattern
from khiip_indexer.lexical.stopwords import STOPWORDS

MOST_TERMS = 64
# A query with so many words, or characters of unspaced script, is a sentence of a note.
SENTENCE_WORDS = 3
SENTENCE_RUN = 6
LONG_WORDS = 6
SHORT = 2
_LONGEST_QUERY = 4_000
_KEYWORDS = 3
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_EDGES = "\"'()[]{}<>,;:!?¿¡…。、「」『』（）"

Kind = Literal["word", "phrase", "run", "literal"]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to look up, folded; a `weak` one says little about what is meant.

    `word` is one word, `phrase` words in this order, `run` one or two characters of unspaced
    script, or a longer stretch of it as a phrase; `literal` is found as it stands and only so.
    """

    text: str
    kind: Kind
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Terms:
    """A query folded, blanks made one, and its distinct terms in order.

    `sentence` says that the query is long enough for a note that holds it whole to be meant, and
    `long` that it is longer than names of notes mostly are.
    `needed` are short words of a query of few; where notes hold all of its words, one without
    these, and without any that is as rare, is not an answer. `times` says how often the
    query names a term.
    """

    text: str
    items: tuple[Term, ...]
    sentence: bool = False
    long: bool = False
    needed: frozenset[Term] = frozenset()
    times: Mapping[Term, int] = field(default_factory=dict, compare=False)

    @property
    def strong(self) -> tuple[Term, ...]:
        """The terms that tell something, or all where none does."""
        return tuple(term for term in self.items if not term.weak) or self.items


def terms(query: str) -> Terms:
    """Read free text; any text is a query, and one of blanks only has no terms."""
    text = " ".join(fold(query[:_LONGEST_QUERY]).split())
    chunks = text.split(" ") if text else []
    times = Counter(term for chunk in chunks for term in _of_chunk(chunk))
    items = tuple(times)[:MOST_TERMS]
    if not any(term.kind != "literal" for term in items):
        return Terms(text, items)
    items = tuple(term for term in items if term.kind != "literal" or _has_word(term.text))
    pieces = list(word_pattern().finditer(text))
    return Terms(text, items, _is_sentence(text, pieces), _is_long(pieces), _needed(items), times)


def _has_word(text: str) -> bool:
    return word_pattern().search(text) is not None


def _of_chunk(chunk: str) -> Iterator[Term]:
    core = chunk.strip(_EDGES).rstrip(".") or chunk
    pieces = list(word_pattern().finditer(core))
    if not pieces:
        yield Term(core, "literal")
        return
    symbols = len(pieces) == 1 and pieces[0][0] != core and len(pieces[0][0]) <= SHORT
    if symbols:
        yield Term(core, "literal")
    spaced = [piece for piece in pieces if piece["run"] is None]
    compound = len(pieces) > 1 and len(spaced) == len(pieces)
    if compound:
        yield Term(core[pieces[0].start() : pieces[-1].end()], "phrase")
    for piece in pieces:
        if piece["run"] is not None:
            yield from _of_run(piece[0])
        elif not (compound and len(piece[0]) <= SHORT):
            yield Term(piece[0], "word", weak=symbols or piece[0] in STOPWORDS)


def _of_run(run: str) -> Iterator[Term]:
    if len(run) <= SHORT:
        yield Term(run, "run")
        return
    yield Term(run, "run")
    for pair in bigrams(run)[:-1]:
        # Endings and particles are the stopwords of Japanese, and are written in hiragana.
        yield Term(pair, "run", weak=_HIRAGANA.fullmatch(pair) is not None)


def _is_sentence(text: str, pieces: Sequence[re.Match[str]]) -> bool:
    words = sum(_has_word(chunk) for chunk in text.split(" "))
    return words >= SENTENCE_WORDS or _unspaced(pieces) >= SENTENCE_RUN


def _is_long(pieces: Sequence[re.Match[str]]) -> bool:
    """Two characters of unspaced script are about a word."""
    spaced = sum(piece["run"] is None for piece in pieces)
    return spaced + _unspaced(pieces) / 2 >= LONG_WORDS


def _unspaced(pieces: Sequence[re.Match[str]]) -> int:
    return sum(len(piece[0]) for piece in pieces if piece["run"] is not None)


def _needed(items: tuple[Term, ...]) -> frozenset[Term]:
    strong = [term for term in items if not term.weak]
    if not 1 < len(strong) <= _KEYWORDS:
        return frozenset()
    # Two characters are the usual length of a word in the scripts without spaces.
    return frozenset(t for t in strong if len(t.text) <= SHORT and t.kind != "run")
