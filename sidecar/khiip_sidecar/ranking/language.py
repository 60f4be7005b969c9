"""Whether a model knows the language of a query; pure."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# What was trained on English texts alone; of other models nothing is assumed.
ENGLISH_ONLY = frozenset({"all-MiniLM-L6-v2"})
_FOREIGN_SHARE = 0.5
_MOST_LETTERS = 500


def is_weak_language(query: str, model: str) -> bool:
    """Whether over half of a query's letters are of a script that the model was not taught."""
    if model not in ENGLISH_ONLY:
        return False
    letters = [char for char in query[:_MOST_LETTERS] if char.isalpha()]
    foreign = sum(not _is_latin(char) for char in letters)
    return foreign > _FOREIGN_SHARE * len(letters)


@lru_cache(maxsize=4096)
def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith(("LATIN", "FULLWIDTH LATIN"))
