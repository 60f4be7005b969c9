"""Texts from clients made safe: for stores and models, and for error sentences; pure."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
# Of the set of all others a table of every character would be made at each start.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\xa0\ud800-\udfff]")


def clean_text(text: str) -> str:
    """A text that any store and any encoder takes: no NUL, no half of a surrogate pair."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", " "))


def shown(text: str, most: int = 60) -> str:
    """A client's text as an error may repeat it: short, printable."""
    safe = _UNPRINTABLE.sub("\ufffd", text[:most])
    return safe if len(text) <= most else f"{safe}…"
