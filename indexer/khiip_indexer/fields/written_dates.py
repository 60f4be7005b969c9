"""The dates that a note's frontmatter says, and what to tell of those that are none; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from khiip_indexer.fields.checks import PLACEHOLDER
from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.metadata import Meta, normal_key
from khiip_indexer.types import Frontmatter, Problem

RECORDED_KEYS = (
    "recorded_at",
    "created",
    "date created",
    "captured",
    "clipped",
    "saved",
    "added",
    "date",
    "created_at",
    "creation date",
)
VALID_KEYS = ("valid_from", "published", "date published")
MODIFIED_KEYS = (
    "modified",
    "updated",
    "date modified",
    "last modified",
    "modified_at",
    "updated_at",
)
MAX_SHOWN = 60
_DATE_KEYS = {
    normal_key(key): key for keys in (RECORDED_KEYS, VALID_KEYS, MODIFIED_KEYS) for key in keys
}
_KEY_LINE = re.compile(r"[ \t]*[\"']?([^\s:\"'#-][^:\n\"']{0,60}?)[\"']?[ \t]*:(?=\s|$)")
# `published: false` is a switch, `saved: yes` a tick, `date: -` and `TBD` are blanks.
_NO_DATE_MEANT = frozenset(
    (
        *("true", "false", "yes", "no", "on", "off", "y", "n", "1", "0", "null", "none", "nan"),
        *("-", "--", "?", "~", "n/a", "na", "tbd", "tba", "unknown", "nd", "n.d.", "undefined"),
    )
)


def first_date(meta: Meta, keys: tuple[str, ...]) -> datetime | None:
    """Return the first of the named dates that can be read; of a list, its first one."""
    found = (parse_date(text) for key in keys for text in meta.texts(key))
    return next((when for when in found if when), None)


def unreadable_date(front: Frontmatter, meta: Meta, path: str) -> Iterator[Problem]:
    """Name the first date of the frontmatter that cannot be read, once a note.

    Placeholders of templates, blanks and switches (`published: false`) are no dates.
    """
    for key in front.metadata:
        name = normal_key(key)
        written = meta.texts(key) if name in _DATE_KEYS else []
        if not written or any(parse_date(text) or not _date_meant(text) for text in written):
            continue
        yield Problem(
            path,
            "bad_date",
            f"{key}: '{shortened(written[0])}' is no date that can be read, so it does not count",
            line_of(front, name),
            "Write it as 2026-01-31, or 2026-01-31T14:05:00Z.",
        )
        return


def _date_meant(text: str) -> bool:
    return text.strip().casefold() not in _NO_DATE_MEANT and not PLACEHOLDER.search(text)


def shortened(text: str) -> str:
    """A written value as a sentence may repeat it: the beginning of a long one."""
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def line_of(front: Frontmatter, name: str) -> int | None:
    """Return the file's line of a key in its normal form; None when it has no line of its own."""
    # The block ends on the line before the closing fence.
    lines = front.raw.split("\n")
    first = front.body_line - 1 - len(lines)
    for number, line in enumerate(lines, first):
        match = _KEY_LINE.match(line)
        if match and normal_key(match[1]) == name:
            return number
    return None
