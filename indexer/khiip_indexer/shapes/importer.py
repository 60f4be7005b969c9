"""Notes that the Obsidian Importer made from Notion, Evernote, Keep and others."""

from __future__ import annotations

from khiip_indexer.shapes.base import Doc, Reading, Shape


def matches(doc: Doc) -> bool:
    if "notion-id" in doc.meta or "reminder" in doc.meta:
        return True
    return any(tag.lower().startswith("keep/") for tag in doc.meta.tags("tags", "tag"))


def read(doc: Doc) -> Reading:
    """The file's times are the day of the import: nothing here says when a note was written."""
    tags = [tag.lower() for tag in doc.meta.tags("tags", "tag")]
    return Reading(
        mem_state="parked" if "keep/archived" in tags else None,
        extras={"reminder": doc.meta.text("reminder")},
    )


SHAPE = Shape("importer", matches, read)
