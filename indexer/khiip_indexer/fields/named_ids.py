"""The id that a note names itself, and what to tell of one that cannot be used; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from khiip_indexer.fields.metadata import Meta, normal_key
from khiip_indexer.fields.written_dates import line_of
from khiip_indexer.types import Frontmatter, Problem

ID_KEYS = ("id", "khiip_id", "ulid")
_TEMPLATE = re.compile(r"\{\{|<%")
# Such an id stands on no line, in no address and in no log as it is.
_UNUSABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def declared_id(meta: Meta) -> str | None:
    """Return the first id that a note names and that can be used."""
    return next((text for _, text in _written(meta) if not _UNUSABLE.search(text)), None)


def unusable_id(front: Frontmatter, meta: Meta, path: str) -> Iterator[Problem]:
    """Name an id that cannot be used; the note's path, or another key, gives it one."""
    for key, text in _written(meta):
        if _UNUSABLE.search(text):
            reason = f"{key}: the id holds a line break or another control character"
            hint = "Write an id on one line; until then the note has one that follows its path."
            yield Problem(path, "bad_id", reason, line_of(front, normal_key(key)), hint)


def _written(meta: Meta) -> Iterator[tuple[str, str]]:
    for key in ID_KEYS:
        text = meta.text(key)
        if text and not _TEMPLATE.search(text):
            yield key, text
