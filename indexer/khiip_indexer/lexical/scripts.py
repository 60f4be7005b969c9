"""Scripts that are written without spaces between words, and how they are cut; pure."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Han with its repetition marks, kana, bopomofo, Hangul, Thai, Lao, Tibetan, Myanmar, Khmer.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0ecd\u0f40-\u0fbc\u1000-\u1049\u1050-\u109f\u1100-\u11ff"
    "\u1780-\u17d3\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003fffd"
)
_RUN = re.compile(f"[{UNSPACED}]+")
_LAST_MARK = 0xABFF  # below the Hangul syllables; higher marks belong to scripts nobody writes in


def has_unspaced(text: str) -> bool:
    """Whether any of the text is in a script without spaces."""
    return not text.isascii() and _RUN.search(text) is not None


def bigrams(run: str) -> list[str]:
    """Every two neighbours of a run, and its last character alone.

    So each character begins one of them: what holds it is found by that beginning.
    """
    return [run[at : at + 2] for at in range(len(run))]


def cut(text: str) -> str:
    """The text with each run of unspaced script as its bigrams, apart from what is around it."""
    return _RUN.sub(lambda match: f" {' '.join(bigrams(match[0]))} ", text)


@cache
def word_pattern() -> re.Pattern[str]:
    """What is one piece of a text: a run of unspaced script, or of letters, digits and marks.

    Built once from the Unicode tables: `re` has no name for combining marks, and without them
    Arabic and Indic words would fall apart. Group `run` is set for unspaced script.
    """
    marks = "".join(
        char
        for code in range(0x300, _LAST_MARK)
        if unicodedata.category(char := chr(code))[0] == "M"
    )
    letter = f"(?:(?![{UNSPACED}])(?:[^\\W_]|[{marks}]))"
    return re.compile(f"(?P<run>[{UNSPACED}]+)|{letter}+")
