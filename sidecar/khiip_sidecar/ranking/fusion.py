"""How meaning and words become one relevance; pure.

A weighted sum of the cosine and of the words' score. The cosine is that of the best passage, and
to a third of the capture's own vector: two signals that fail on different questions. Words count
the more, the more of the query a note holds: where a question is asked in other words than the
note's, what few words they share say nothing. Measured on Cranfield, CISI, JaQuAD and the sample
vault's questions, the sum is flat around these numbers and beats rank fusion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_indexer.search import Meaning

if TYPE_CHECKING:
    from khiip_indexer.lexical.search import LexicalHit

WORDS_WEIGHT = 0.3
OWN_PART = 1 / 3
SHARE_POWER = 0.4
# Where the model does not know the language its cosine only parts equals.
WORDS_WEIGHT_WEAK = 0.97
# What a note that is hardly a text counts: names of other notes, or of what is to be filled in.
THIN_PART = 0.5
# A note that holds the whole query comes before all that do not.
VERBATIM = 0.9
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of how a capture fits a query; None where nothing is.

    `context` is the relevance that it has from what it is read with, 0 where that is no more
    than its own. `form` says what a capture is that is hardly a text.
    """

    meaning: Meaning | None = None
    words: LexicalHit | None = None
    context: float = 0.0
    form: str = ""

    @classmethod
    def of_cosine(cls, value: float) -> Signals:
        """What a search by meaning alone knows."""
        return cls(meaning=Meaning(None, value))

    @property
    def verbatim(self) -> bool:
        """Whether the note holds the whole query as it stands; a link's text is another's title."""
        if self.words is None or (self.form == "links" and not self.words.meant):
            return False
        return self.words.verbatim

    @property
    def part(self) -> float:
        """What part of its relevance counts: all, but of a bare list or template that was not
        asked for by its name or by a whole sentence."""
        meant = self.words is not None and self.words.meant
        return THIN_PART if self.form and not meant else 1.0


def fused(signals: Signals, words_weight: float) -> float:
    """Relevance in [0, 1] of both; a part that is not there counts nothing."""
    words = held(signals.words, words_weight)
    value = signals.part * ((1 - words_weight) * cosine(signals.meaning) + words_weight * words)
    if signals.verbatim:
        return round(VERBATIM + (1 - VERBATIM) * value, DIGITS)
    return round(min(max(value, signals.context), VERBATIM), DIGITS)


def held(words: LexicalHit | None, words_weight: float) -> float:
    """The words' score as it enters the sum; as it is, where little else tells."""
    if words is None:
        return 0.0
    if words_weight >= WORDS_WEIGHT_WEAK:
        return words.score
    return float(words.score * words.share**SHARE_POWER)


def cosine(meaning: Meaning | None) -> float:
    """The capture's own vector and its best passage as one cosine, at least 0."""
    if meaning is None:
        return 0.0
    own = meaning.best if meaning.own is None else meaning.own
    return max(0.0, OWN_PART * own + (1 - OWN_PART) * meaning.best)


def is_weak(signals: Signals, floor: float) -> bool:
    """Whether a capture fits no better than chance: no word of the query, and a low cosine."""
    if signals.words is not None or signals.context > 0:
        return False
    return signals.meaning is None or signals.meaning.best < floor


def reasons(signals: Signals, floor: float, *, titled: bool = False) -> tuple[str, ...]:
    """The `match_reasons` of a query, each only where it is true, in a fixed order.

    `titled` says that most of the query is in the title.
    """
    meaning, words = signals.meaning, signals.words
    found = {
        "semantic_match": meaning is not None and meaning.best >= floor,
        "content_match_fts": words is not None and words.fts and not words.substring,
        "content_match_dual": words is not None and words.fts and words.substring,
        "content_substring": words is not None and words.substring and not words.fts,
        "title_match": words is not None and titled,
        "verbatim": signals.verbatim,
        "thread_context": signals.context > 0,
    }
    return tuple(name for name, holds in found.items() if holds)
