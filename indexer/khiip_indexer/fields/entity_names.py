"""When two names are one entity; pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_APOSTROPHES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "`": "'", "\u00b4": "'"})
_JOINER = re.compile(r"[\s_\u2010-\u2015\u2212-]+")
_SUFFIX = ".md"


@lru_cache(maxsize=8192)
def entity_key(name: str) -> str:
    """The form in which names of entities are compared: equal keys are one entity.

    Case, spaces, `-`, `_` and so CamelCase make no difference, nor do Unicode's several ways to
    write one letter, dash or apostrophe. Of a path the last step counts, without `.md`. Dots and
    other signs stay: `C` and `C++` are two. The key of a key is itself; only a blank name has "".
    """
    text = _folded(name)
    whole = unicodedata.normalize("NFC", _JOINER.sub("", text))
    last = whole if "://" in whole else whole.rstrip("/").rpartition("/")[2]
    while last.endswith(_SUFFIX) and last != _SUFFIX:
        last = last[: -len(_SUFFIX)]
    # A name of nothing but dashes is still a name.
    return last or "".join(text.split())


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower().replace("`", "'")
    plain = unicodedata.normalize("NFC", text).translate(_APOSTROPHES)
    seen = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", plain).casefold())
    kept = (char for char in seen if unicodedata.category(char) != "Cf")
    return "".join(kept).translate(_APOSTROPHES)
