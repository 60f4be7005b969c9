"""Whether a model knows the language of a query; pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from khiip_indexer.lexical.scripts import has_unspaced

# What was trained on English texts alone; of other models nothing is assumed.
ENGLISH_ONLY = frozenset({"all-MiniLM-L6-v2"})
_FOREIGN_SHARE = 0.5
_MOST_LETTERS = 500
_LETTERS = re.compile(r"[^\W\d_]+")


def is_weak_language(query: str, model: str) -> bool:
    """Whether over half of a query is of a script that the model was not taught.

    A word of Latin letters counts as one, and so does each character of a script without spaces:
    the name of a product in a question of three characters does not make it English.
    """
    if model not in ENGLISH_ONLY:
        return False
    known, foreign = 0, 0
    for word in _LETTERS.findall(query[:_MOST_LETTERS]):
        strange = sum(not _is_latin(char) for char in word)
        foreign += strange if has_unspaced(word) else strange > 0
        known += strange < len(word)
    return foreign > _FOREIGN_SHARE * (known + foreign)


@lru_cache(maxsize=4096)
def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith(("LATIN", "FULLWIDTH LATIN"))
