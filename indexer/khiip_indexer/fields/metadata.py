"""Reading values out of a note's metadata: names without regard to spelling, values by type."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from khiip_indexer.types import Value

_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|]{1,500})(?:\|([^\[\]\n]{0,500}))?\]\]")
# A comma inside a wikilink is part of a name: `[[Lovelace, Ada]], Bo`.
_LIST_PART = re.compile(r"(?:\[\[[^\[\]]{0,500}\]\]|[^,])+")
_HASH_WORDS = re.compile(r"#\S+(?:\s+#\S+)+")
_YES = frozenset(("true", "yes", "on", "1", "y"))
_NO = frozenset(("false", "no", "off", "0", "n"))


@lru_cache(maxsize=4096)
def normal_key(key: str) -> str:
    """The form in which keys are compared: no case, spaces, `-` or `_`."""
    return "".join(key.split()).replace("-", "").replace("_", "").casefold()


class Meta:
    """A note's metadata, asked by names; the first name that has a value wins.

    Null, "", [] and {} are no value, so a key that is only there counts as absent.
    """

    def __init__(self, metadata: Mapping[str, Value]) -> None:
        self._values: dict[str, Value] = {}
        for key, value in metadata.items():
            if not is_empty(value):
                self._values.setdefault(normal_key(key), value)

    def __contains__(self, name: str) -> bool:
        return normal_key(name) in self._values

    def first(self, *names: str) -> Value:
        """The value of the first name that has one, else None."""
        for name in names:
            value = self._values.get(normal_key(name))
            if value is not None:
                return value
        return None

    def text(self, *names: str) -> str | None:
        """The first value that is text, stripped; a list's texts are joined with `, `."""
        return ", ".join(self.texts(*names)) or None

    def texts(self, *names: str) -> list[str]:
        """All texts of the first value that has any: a scalar, or a list with lists in it."""
        for name in names:
            value = self._values.get(normal_key(name))
            if value is not None and (found := list(_flatten(value))):
                return found
        return []

    def tags(self, *names: str) -> list[str]:
        """Tags or aliases: a list, or one text cut at commas; `#` and wikilink marks taken off.

        An item of a list stays whole. Each is given once, spelled as it came first.
        """
        for name in names:
            value = self._values.get(normal_key(name))
            if value is None:
                continue
            parts = _cut(value) if isinstance(value, str) else _flatten(value)
            unique: dict[str, str] = {}
            for part in parts:
                tag = unwrap_wikilinks(part).strip().removeprefix("#").strip()
                if tag:
                    unique.setdefault(tag.casefold(), tag)
            if unique:
                return list(unique.values())
        return []

    def flag(self, name: str) -> bool | None:
        """True or False as YAML 1.1 spells them; None when it is neither."""
        word = (self.text(name) or "").casefold()
        if word in _YES:
            return True
        return False if word in _NO else None

    def number(self, name: str) -> float | None:
        """A finite number, else None."""
        try:
            number = float(self.text(name) or "")
        except ValueError:
            return None
        return number if math.isfinite(number) else None


def is_empty(value: Value) -> bool:
    """Whether a value says nothing: null, blank text, or a collection of such."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, list):
        return all(is_empty(item) for item in value)
    return not value


def _flatten(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        if stripped := value.strip():
            yield stripped
    elif isinstance(value, list):
        for item in value:
            yield from _flatten(item)


def _cut(text: str) -> list[str]:
    if _HASH_WORDS.fullmatch(text.strip()) and "," not in text:
        return text.split()
    return _LIST_PART.findall(text)


def wikilink_parts(text: str) -> tuple[str, str]:
    """(target, shown) of a text that is one wikilink; of any other text, itself twice.

    The target has no `#heading` and no `^block`: `[[Ada Lovelace|Ada]]` -> Ada Lovelace, Ada.
    """
    match = _WIKILINK.fullmatch(text.strip())
    if match is None:
        plain = text.strip()
        return plain, plain
    target = match[1].split("#", 1)[0].strip() or match[1].strip()
    return target, _shown(match)


def unwrap_wikilinks(text: str) -> str:
    """The text as a reader sees it: each wikilink gives way to its alias, else its target."""
    if "[[" not in text:
        return text
    return _WIKILINK.sub(_shown, text)


def _shown(match: re.Match[str]) -> str:
    alias = (match[2] or "").strip()
    return alias or match[1].strip()
