"""Excalidraw drawings: only the words in them are text."""

from __future__ import annotations

import re

from khiip_indexer.shapes.base import Doc, Reading, Shape

_ELEMENT_ID = re.compile(r"[ \t]*\^[A-Za-z0-9_-]{8}[ \t]*$")
_HEADING = re.compile(r"^#{1,2} (.+?)[ \t]*$")
_MACHINE = frozenset(
    {"Drawing", "Embedded Files", "Embedded files", "Element Links", "Excalidraw Data"}
)


def matches(doc: Doc) -> bool:
    return "excalidraw-plugin" in doc.meta


def read(doc: Doc) -> Reading:
    """Keep the words and what the user wrote above them; newer files hide all in a comment."""
    kept: list[str] = []
    part = "note"
    for line in doc.lines:
        heading = _HEADING.match(line)
        name = heading.group(1) if heading else ""
        if name in _MACHINE or name == "Text Elements":
            part = "words" if name == "Text Elements" else "machine"
            kept.append("")
        elif part == "machine" or line.strip() == "%%" or "EXCALIDRAW VIEW" in line:
            kept.append("")
        else:
            kept.append(_ELEMENT_ID.sub("", line) if part == "words" else line)
    return Reading(source="note", body="\n".join(kept))


SHAPE = Shape("excalidraw", matches, read)
