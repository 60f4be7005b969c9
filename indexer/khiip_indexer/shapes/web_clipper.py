"""Clips of the Obsidian Web Clipper and its like: a URL, an author, the day of saving."""

from __future__ import annotations

from khiip_indexer.fields.sources import source_of
from khiip_indexer.shapes.base import Doc, Reading, Shape


def matches(doc: Doc) -> bool:
    url = doc.url
    if url is None:
        return False
    if source_of(url) in ("x", "youtube", "reddit"):
        return True
    saved = doc.meta.text("created", "clipped", "saved", "captured", "date_saved")
    return bool(saved) and (
        doc.meta.first("author") is not None or "clippings" in doc.meta.tags("tags")
    )


def read(doc: Doc) -> Reading:
    """Hashtags inside clipped text are not the user's."""
    return Reading(clipped=True)


SHAPE = Shape("web-clipper", matches, read)
