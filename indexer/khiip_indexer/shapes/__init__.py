"""The tools whose notes are known; the first shape that matches reads the note.

The order is the page's own: marks that only one tool writes come first, a bare URL comes last.
"""

from __future__ import annotations

from khiip_indexer.shapes import (
    agent_memory,
    ai_chat,
    annotator,
    basic_memory,
    citations,
    excalidraw,
    hypothesis_notes,
    importer,
    instapaper,
    kanban,
    khiip_daemon,
    kindle,
    logseq,
    markdownload,
    matter,
    omnivore,
    pdf_plus,
    pocket,
    raindrop,
    readwise,
    reddit_export,
    snipd,
    timestamps,
    tweets,
    web_clipper,
    weread,
    wikipedia,
    zotero,
)
from khiip_indexer.shapes.base import Doc, Reading, Shape

__all__ = ["SHAPES", "Doc", "Reading", "Shape", "recognise"]

SHAPES: tuple[Shape, ...] = (
    khiip_daemon.SHAPE,
    # keys that one tool writes
    kindle.SHAPE,
    raindrop.SHAPE,
    zotero.ZOTLIT,
    annotator.SHAPE,
    kanban.SHAPE,
    excalidraw.SHAPE,
    ai_chat.NEXUS,
    ai_chat.COPILOT,
    agent_memory.ENTITY,
    agent_memory.SHAPE,
    hypothesis_notes.SHAPE,
    weread.SHAPE,
    reddit_export.SHAPE,
    importer.SHAPE,
    # marks in the body
    readwise.SHAPE,
    omnivore.SHAPE,
    snipd.SHAPE,
    instapaper.SHAPE,
    zotero.SHAPE,
    tweets.READ_IT_LATER,
    logseq.PDF,
    pdf_plus.SHAPE,
    matter.SHAPE,
    snipd.PODNOTES,
    # several keys together
    tweets.SHAPE,
    ai_chat.CONVERSATION,
    basic_memory.SHAPE,
    citations.SHAPE,
    pocket.SHAPE,
    markdownload.SHAPE,
    timestamps.SHAPE,
    # a URL, by its host
    wikipedia.SHAPE,
    ai_chat.CLIP,
    web_clipper.SHAPE,
    logseq.PAGE,
)


def recognise(doc: Doc) -> Shape | None:
    """Return the first shape that matches, None for an ordinary note."""
    return next((shape for shape in SHAPES if shape.matches(doc)), None)
