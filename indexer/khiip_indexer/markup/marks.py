"""Tags, inline fields and task marks in plain text; pure.

Each function takes a text with its mask: a string of the same length in which every character
that is code, maths or part of a link is replaced, so that marks are never found in those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HIDDEN = "\x01"
LINKED = "\x02"

# A tag is any run of letters, digits, `_`, `-`, `/` and of signs outside ASCII that are no
# punctuation (emoji); U+200D and U+FE0F hold emoji together.
_TAG = re.compile(
    r"(?<![^\s(\[{,;:\"'|，。、；：（【「『“‘])#"
    r"([^\s\x00-\x2c.\x3a-\x40\x5b-\x5e`\x7b-\xbf\u2000-\u200c\u200e-\u206f\u3000-\u303f"
    r"\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+)"
)
_HEX = re.compile(r"(?:[0-9a-fA-F]{3,4}){1,2}\Z")
_DOUBLED = re.compile(r"(?:([0-9a-fA-F])\1)+\Z")


def tags_in(mask: str) -> list[str]:
    """The `#tags` of a masked text, without `#`, in order."""
    if "#" not in mask:
        return []
    names = (match[1].rstrip("/") for match in _TAG.finditer(mask))
    return [name for name in names if _is_tag(name)]


def _is_tag(name: str) -> bool:
    if not any(char.isalnum() or ord(char) > 127 for char in name) or name.isdigit():
        return False
    if not _HEX.fullmatch(name):
        return True
    # A colour has a digit or pairs of letters; "#bad" and "#facade" are words.
    is_colour = any(char.isdigit() for char in name) or len(set(name.lower())) == 1
    return not (is_colour or (len(name) == 6 and _DOUBLED.fullmatch(name)))


# --- inline fields ----------------------------------------------------------------------------

_KEY = r"[^\W\d_\x01\x02][^\[\](){}:\n\x01\x02]{0,59}"
_BRACKETED = re.compile(
    rf"\[[ \t]*({_KEY})::([ \t]*)([^\[\]\n]*)\]|\([ \t]*({_KEY})::([ \t]*)([^()\n]*)\)"
)
_LINE = re.compile(
    r"^[ \t]*([^\W\d_\x01\x02][\w /.'’\-]{0,59}|[^\x00-\x7f\s][^\x00-\x1f:\[\](){}]{0,59})"
    r"::([ \t]*)(?!:)(.*)$",
    re.MULTILINE,
)
_MACHINE_KEYS = frozenset({"id", "collapsed"})
_MACHINE_VALUE = re.compile(r"(?:true|false|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*\Z")


@dataclass(frozen=True, slots=True)
class Fields:
    """A text with its fields read: `key:: value` is shown as `key: value`."""

    text: str
    mask: str
    pairs: tuple[tuple[str, str], ...]


def read_fields(text: str, mask: str) -> Fields:
    """Find `key:: value` on a line and `[key:: value]`, `(key:: value)` anywhere."""
    if "::" not in mask:
        return Fields(text, mask, ())
    bracketed = _rewrite(text, mask, _BRACKETED)
    lines = _rewrite(bracketed.text, bracketed.mask, _LINE)
    return Fields(lines.text, lines.mask, bracketed.pairs + lines.pairs)


def _rewrite(text: str, mask: str, pattern: re.Pattern[str]) -> Fields:
    pairs: list[tuple[str, str]] = []
    texts: list[str] = []
    masks: list[str] = []
    done = 0
    for match in pattern.finditer(mask):
        first = 1 if match[1] is not None else 4
        key = match[first].strip()
        value_at, value_end = _strip_span(text, *match.span(first + 2))
        value = text[value_at:value_end]
        if not _is_field(key, match[first + 1], value):
            continue
        start, end = match.span()
        lead, tail = _shown(key, value, in_parentheses=first == 4)
        texts += [text[done:start], lead, tail]
        masks += [mask[done:start], lead, mask[value_at:value_end] if tail else ""]
        done = end
        if key.lower() not in _MACHINE_KEYS:
            pairs.append((key, value))
    texts.append(text[done:])
    masks.append(mask[done:])
    return Fields("".join(texts), "".join(masks), tuple(pairs))


def _strip_span(text: str, start: int, end: int) -> tuple[int, int]:
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip())
    return start, start + len(raw.strip())


def _is_field(key: str, space: str, value: str) -> bool:
    """`std::vector` is no field: without a space, the key or value must not look like code."""
    if not value or value.startswith(":"):
        return False
    return bool(space) or not key.isascii() or value[0].isdigit() or not value[0].isascii()


def _shown(key: str, value: str, *, in_parentheses: bool) -> tuple[str, str]:
    if key.lower() in _MACHINE_KEYS and _MACHINE_VALUE.match(value):
        return "", ""  # an outliner's own bookkeeping
    return ("", value) if in_parentheses else (f"{key}: ", value)


# --- tasks ------------------------------------------------------------------------------------

_DATE = r"\ufe0f?[ \t]*(\d{4}-\d{2}-\d{2})"
_DUE = re.compile(rf"[📅📆🗓]{_DATE}")
_DUE_FIELD = re.compile(r"[\[(][ \t]*due::[ \t]*([^\])\n]{0,200})[\])]", re.IGNORECASE)
_PRIORITIES = {"🔺": "highest", "⏫": "high", "🔼": "medium", "🔽": "low", "⏬": "lowest"}
_PRIORITY = re.compile("[🔺⏫🔼🔽⏬]")
_PRIORITY_FIELD = re.compile(r"[\[(][ \t]*priority::[ \t]*(\w+)[ \t]*[\])]", re.IGNORECASE)
_TASK_MARKS = re.compile(
    rf"[➕⏳⌛🛫📅📆🗓✅❌]{_DATE}"
    r"|[🔺⏫🔼🔽⏬]\ufe0f?"
    r"|🔁\ufe0f?[a-zA-Z0-9, \t]*"
    r"|🏁\ufe0f?[ \t]*[a-zA-Z]*"
    r"|[🆔⛔]\ufe0f?[ \t]*[\w-]+(?:,[ \t]*[\w-]+)*"
    r"|[\[(][ \t]*(?:due|created|start|scheduled|completion|cancelled|priority|repeat|id|dependsOn"
    r"|onCompletion)::[^\])\n]{0,200}[\])]"
)
_SPACES = re.compile(r"[ \t]+")
_SPACE = re.compile(r"\s")
_WORD_END = re.compile(r"\s|\Z")


def task_words(text: str, mask: str) -> str:
    """A task as a sentence: its inline fields as text, no tags at either end, and without dates,
    priority and the other marks of the Tasks plugin. A task of nothing but tags keeps them.
    """
    texts: list[str] = []
    masks: list[str] = []
    done = 0
    for match in _TASK_MARKS.finditer(mask):
        texts += [text[done : match.start()], " "]
        masks += [mask[done : match.start()], " "]
        done = match.end()
    shown = read_fields("".join([*texts, text[done:]]), "".join([*masks, mask[done:]]))
    start, end = _without_end_tags(shown.mask)
    return _single_spaced(shown.text[start:end]) or _single_spaced(shown.text)


def _single_spaced(text: str) -> str:
    return _SPACES.sub(" ", text).replace(" \n", "\n").replace("\n ", "\n").strip()


def _without_end_tags(mask: str) -> tuple[int, int]:
    """Offsets of the text between the tags at its beginning and the tags at its end."""
    start, end = len(mask) - len(mask.lstrip()), len(mask.rstrip())
    while start < end and mask[start] == "#":
        stop = _WORD_END.search(mask, start)
        after = min(stop.start(), end) if stop else end
        if not _is_only_tag(mask[start:after]):
            break
        start = _skip_space(mask, after, end)
    while start < end:
        at = end
        while at > start and not _SPACE.match(mask, at - 1):
            at -= 1
        if mask[at] != "#" or not _is_only_tag(mask[at:end]):
            break
        end = at
        while end > start and _SPACE.match(mask, end - 1):
            end -= 1
    return start, end


def _skip_space(mask: str, at: int, end: int) -> int:
    while at < end and _SPACE.match(mask, at):
        at += 1
    return at


def _is_only_tag(word: str) -> bool:
    return tags_in(word) == [word[1:].rstrip("/")]


def without_end_tags(text: str) -> str:
    """Return a text without the tags at its beginning and its end, unless it is only tags."""
    start, end = _without_end_tags(text)
    return text[start:end] or text.strip()


def tags_only(line: str) -> bool:
    """Say whether a line of text is nothing but tags."""
    words = line.split() if line.lstrip().startswith("#") else []
    return bool(words) and all(_is_only_tag(word) for word in words)


def task_due(text: str) -> str | None:
    """The due date as written, from 📅 or `[due:: …]`."""
    match = _DUE.search(text) or _DUE_FIELD.search(text)
    return (match[1].strip() or None) if match else None


def task_priority(text: str) -> str | None:
    """highest, high, medium, low or lowest, from its sign or `[priority:: …]`."""
    if sign := _PRIORITY.search(text):
        return _PRIORITIES[sign[0]]
    named = _PRIORITY_FIELD.search(text)
    name = named[1].lower() if named else None
    return name if name in _PRIORITIES.values() else None
