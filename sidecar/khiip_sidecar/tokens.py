"""How many tokens a text costs a language model, estimated; pure."""

from __future__ import annotations

import re
from math import ceil

# Tokens of a character of other scripts, by whether UTF-8 has two bytes for it, or three.
_BYTES = {True: 0.85, False: 1.35}

# Pieces as byte-pair vocabularies have them: a space belongs to the word that follows, capitals
# and digits (ids, times) come in short pieces, other scripts about a piece a character.
_PIECES = re.compile(
    r"(?P<word> ?[A-Z]?[a-z]+)|(?P<code>[A-Z0-9]+)|(?P<space>\s+)"
    r"|(?P<sign>[!-/:-@\[-`{-~]+)|(?P<other>[^\x00-\x7f]+)|(?P<odd>.)",
    re.DOTALL,
)


def tokens_in(text: str) -> int:
    """An estimate that is meant to be no lower than what common vocabularies count."""
    return sum(_piece_cost(match[0], match.lastgroup) for match in _PIECES.finditer(text))


def _piece_cost(piece: str, kind: str | None) -> int:
    length = len(piece)
    if kind == "word":
        return 1 + (length - 1) // 7
    if kind == "code":
        mixed = length > 3 and not piece.isdecimal() and not piece.isalpha()
        return ceil(length / 1.25) if mixed else (length + 1) // 2
    if kind == "sign":
        return (length + 1) // 2
    if kind == "other":
        return ceil(sum(3 if char > "\uffff" else _BYTES[char < "\u0800"] for char in piece))
    return 1
