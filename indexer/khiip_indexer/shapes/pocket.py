"""Pocket exports: a fence that an empty first line hides, then URL, hashtags and picture."""

from __future__ import annotations

import re

from khiip_indexer.payloads.lines import plain, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_HASHTAGS = re.compile(r"^(?:#[^\s#]+\s*)+$")


def matches(doc: Doc) -> bool:
    tags = doc.meta.tags("tags")
    return "pocket" in [tag.lower() for tag in tags] and doc.meta.first("excerpt") is not None


def read(doc: Doc) -> Reading:
    """The body repeats the URL and the tags; the excerpt is the only text there is."""
    url = doc.meta.text("url") or ""
    gone = [
        index
        for index, line in enumerate(doc.lines)
        if (url and line.strip().strip("<>") == url) or _HASHTAGS.match(line)
    ]
    return Reading(
        description=plain(doc.meta.text("excerpt") or "") or None, body=without(doc.lines, gone)
    )


SHAPE = Shape("pocket", matches, read)
