"""Matter: asterisk lists without frontmatter."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import hashtags, item, pairs, plain, section, without
from khiip_indexer.shapes.base import Doc, Reading, Shape, names
from khiip_indexer.shapes.kindle import shown

_NOTE = re.compile(r"^\*\*Note\*\*:[ \t]*(.*)$")


def matches(doc: Doc) -> bool:
    return doc.has("* Published Date:") and doc.has("* URL: [")


def read(doc: Doc) -> Reading:
    lines = doc.lines
    about = section(lines, "Metadata")
    marked = section(lines, "Highlights")
    facts = pairs(lines, about.start, about.end) if about else pairs(lines[:20])
    marks = _highlights(doc, marked.start, marked.end) if marked else ()
    frame = [range(part.heading, part.end) for part in (about, marked) if part]
    return Reading(
        source=None,
        url=as_url(shown(facts.get("url"))) or as_url(facts.get("url")),
        authors=names(facts.get("author")),
        site_name=plain(facts["publisher"]) if facts.get("publisher") else None,
        valid_from=parse_date(facts.get("published date", "")),
        tags=(*doc.meta.tags("tags", "tag"), *hashtags(facts.get("tags", ""))),
        body=without(lines, *frame),
        highlights=marks,
    )


def _highlights(doc: Doc, start: int, end: int) -> tuple[Highlight, ...]:
    drafts: list[tuple[list[str], list[str], int]] = []
    for index in range(start, end):
        line = doc.lines[index]
        entry = item(line)
        note = _NOTE.match(entry[1]) if entry else None
        if note and drafts:
            drafts[-1][1].append(note.group(1))
        elif entry and entry[0] < 2:
            drafts.append(([entry[1]], [], doc.line_number(index)))
        elif drafts and line.strip():
            (drafts[-1][1] or drafts[-1][0]).append(line.strip())
    return tuple(
        Highlight(text=plain("\n".join(text)), note=plain("\n".join(note)) or None, line=line)
        for text, note, line in drafts
    )


SHAPE = Shape("matter", matches, read)
