"""Text made comparable, for search only: what is shown stays as it was written; pure.

Compatibility forms, case, and accents on Latin letters go; marks of other scripts stay, since
there they make another word (が is not か). A Turkish dotless ı and a dotted İ are both i: who
types on another keyboard must find them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]+"
)
# NUL would end FTS5's reading; half of a surrogate pair cannot be stored at all.
_BROKEN = re.compile("[\0\ud800-\udfff]")
# A Latin letter that is written with a sign on it, or that stands for another; quotes; dashes.
_LATIN = re.compile("[\u00c0-\u024f\u0250-\u02af\u1d00-\u1dbf\u1e00-\u1eff]")
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_SIGNS = re.compile("[\u2018-\u201f\u2032\u2033\u02b9-\u02bf\u2010-\u2015\u2212\u00b4`]")
_LETTERS = {
    "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i",
    "ŋ": "n", "ŧ": "t", "ɨ": "i", "ʉ": "u", "ƀ": "b", "ɓ": "b", "ɖ": "d", "ɗ": "d", "ƒ": "f",
    "ɠ": "g", "ƙ": "k", "ɫ": "l", "ɲ": "n", "ɵ": "o", "ƥ": "p", "ȼ": "c", "ɍ": "r", "ⱦ": "t",
    "ƭ": "t", "ʋ": "v", "ƴ": "y", "ɏ": "y", "ƶ": "z", "ȥ": "z", "ǥ": "g", "ɇ": "e", "ɉ": "j",
}  # fmt: skip
_QUOTES = dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")


def fold(text: str) -> str:
    """The form of a text that is stored for search and compared with."""
    if text.isascii():
        return text.replace("\0", " ").replace("`", "'").lower()
    text = _BROKEN.sub(_mended, _UNSEEN.sub("", text))
    if text.isascii():
        return text.replace("`", "'").lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    if text.isascii():
        return text.replace("`", "'")
    text = unicodedata.normalize("NFKC", text)
    text = _ACCENTS.sub("", _LATIN.sub(_plain, text))
    return _SIGNS.sub(_sign, text)


def _mended(match: re.Match[str]) -> str:
    return " " if match[0] == "\0" else "\ufffd"


def _plain(match: re.Match[str]) -> str:
    return _plain_letter(match[0])


@cache
def _plain_letter(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0]
    base = _LETTERS.get(base, base)
    return base if base.isascii() else _LETTERS.get(letter, letter)


def _sign(match: re.Match[str]) -> str:
    return _QUOTES.get(match[0]) or _DASHES.get(match[0]) or "'"


def fold_map(text: str) -> tuple[str, list[int]]:
    """The folded text, and for each of its characters the place in `text` where it comes from.

    The list has one more number, the text's length, so that the end of a range can be looked up.
    """
    if text.isascii():
        return fold(text), list(range(len(text) + 1))
    parts: list[str] = []
    places: list[int] = []
    for start, end in _clusters(text):
        folded = fold(text[start:end])
        parts.append(folded)
        places += [start] * len(folded)
    return "".join(parts), [*places, len(text)]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Stretches that can be folded each for itself: a character with what is joined to it."""
    start = 0
    for at in range(1, len(text)):
        if not joins(text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


@cache
def joins(char: str) -> bool:
    """Whether a character may melt into the one before it when a text is normalised."""
    if char.isascii():
        return False
    return (
        unicodedata.category(char)[0] == "M"
        or "\u1160" <= char <= "\u11ff"  # vowels and ends of Hangul syllables
        or char in "\uff9e\uff9f"  # voicing marks of half-width kana
        or "\uffa0" <= char <= "\uffdc"  # half-width Hangul
        or _UNSEEN.match(char) is not None
    )
