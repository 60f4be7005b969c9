"""Kanban boards: a lane's heading is the state of its cards."""

from __future__ import annotations

from khiip_indexer.payloads.lines import plain, sections, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

SETTINGS = "%% kanban:settings"


def matches(doc: Doc) -> bool:
    return "kanban-plugin" in doc.meta


def read(doc: Doc) -> Reading:
    """The settings at the end are the tool's, and so is the `**Complete**` mark of a lane."""
    lines = doc.lines
    end = next((i for i, line in enumerate(lines) if line.startswith(SETTINGS)), len(lines))
    marks = [i for i, line in enumerate(lines[:end]) if line.strip() == "**Complete**"]
    lanes = {
        doc.line_number(index): plain(part.title)
        for part in sections(lines[:end])
        for index in range(part.start, part.end)
    }
    return Reading(source="note", body=without(lines, marks, range(end, len(lines))), lanes=lanes)


SHAPE = Shape("kanban", matches, read)
