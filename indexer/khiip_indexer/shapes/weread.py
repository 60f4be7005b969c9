"""WeRead: highlights under chapter headings, `- 📌 text`, with their times."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import headings, links, pairs, plain, without
from khiip_indexer.shapes.base import Doc, Reading, Shape, names

_MARK = re.compile(r"^\s{0,4}[-*>]?\s*📌\s*(?P<text>.*)$")
_TIME = re.compile(r"^\s*[-*]?\s*⏱\s*\[*(?P<day>[\d-]{8,10})\]*\s*(?P<clock>[\d:]{0,8})")
_NOTE = re.compile(r"^\s*[-*]?\s*(?:💭|📝)\s*(?P<text>.*)$")
_ID = re.compile(r"\s*\^[\w-]{1,60}\s*$")


def matches(doc: Doc) -> bool:
    return (doc.meta.text("doc_type") or "").lower() == "weread-highlights-reviews"


def read(doc: Doc) -> Reading:
    """A book has no source of its own: it is read as a document."""
    lines = doc.lines
    facts = pairs(lines[:40])
    title = doc.meta.text("title") or next(
        (plain(t) for _, lv, t in headings(lines) if lv == 1), None
    )
    marks, used = _highlights(doc)
    return Reading(
        source="pdf",
        title=_strip(title),
        authors=names(*doc.meta.texts("author", "authors")) or None,
        description=doc.meta.text("description", "intro") or facts.get("intro"),
        recorded_at=parse_date(doc.meta.text("lastReadDate", "finishedDate", "readingDate") or ""),
        body=without(lines, used),
        highlights=marks,
        extras={"annotated": True},
    )


def _strip(title: str | None) -> str | None:
    return next((text for text, _ in links(title)), title) if title else None


def _highlights(doc: Doc) -> tuple[tuple[Highlight, ...], set[int]]:
    chapters = {index: plain(title) for index, level, title in headings(doc.lines) if level >= 3}
    chapter: str | None = None
    drafts: list[tuple[list[str], list[str], str | None, int]] = []
    used: set[int] = set()
    open_ = False
    for index, line in enumerate(doc.lines):
        if line.startswith("#"):
            chapter, open_ = chapters.get(index, chapter), False
            continue
        mark, note = _MARK.match(line), _NOTE.match(line)
        if mark:
            drafts.append(([mark["text"]], [], chapter, doc.line_number(index)))
            open_ = True
        elif open_ and note:
            drafts[-1][1].append(note["text"])
        elif open_ and _TIME.match(line):
            pass  # the time of marking is no text
        elif open_ and line.strip() and not line.strip().startswith("---"):
            (drafts[-1][1] or drafts[-1][0]).append(line.strip())
        else:
            open_ = open_ and not line.strip().startswith("---")
            continue
        used.add(index)
    found = tuple(
        Highlight(
            text=plain(_ID.sub("", "\n".join(text))),
            note=plain("\n".join(note)) or None,
            title=chapter,
            line=line,
        )
        for text, note, chapter, line in drafts
    )
    return found, used


SHAPE = Shape("weread", matches, read)
