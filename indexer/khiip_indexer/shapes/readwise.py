"""Notes of the Readwise plugin: metadata list, then highlights, appended to at every sync."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import (
    Section,
    hashtags,
    item,
    letters,
    links,
    number,
    pairs,
    plain,
    seconds,
    sections,
    without,
)
from khiip_indexer.shapes.base import Doc, Reading, Shape, names
from khiip_indexer.types import Source

_ENDING = re.compile(
    r"\(\[(?P<what>View Highlight|View Tweet|Location|Time|View)\s?(?P<at>[\d:,]*)\]"
    r"\((?P<url>[^)\s]*)\)\)\s*$"
)
_SYNC = re.compile(r"^New highlights added (.{4,60})$", re.IGNORECASE)
_SUB = re.compile(r"^(Tags|Note):[ \t]*(.*)$")
_COLORS = frozenset({"pink", "orange", "yellow", "blue", "green", "purple", "red"})
_KINDS: dict[str, Source] = {
    "articles": "web",
    "books": "pdf",
    "tweets": "x",
    "podcasts": "web",
    "supplementals": "pdf",
}
FAVORITE_IMPORTANCE = 0.8


def matches(doc: Doc) -> bool:
    if doc.has("![rw-book-cover]"):
        return True
    linked = doc.has("read.readwise.io/read/", "readwise.io/to_kindle") and doc.has(
        "([View", "([Loc"
    )
    return linked or (doc.has("- Full Title:") and doc.has("- Category: #"))


def read(doc: Doc) -> Reading:
    lines = doc.lines
    parts = sections(lines)
    about = next((part for part in parts if letters(part.title) == "metadata"), None)
    facts = pairs(lines, about.start, about.end) if about else pairs(lines[:40])
    marked = [p for p in parts if letters(p.title) == "highlights" or _SYNC.match(p.title)]
    marks = tuple(mark for part in marked for mark in _highlights(doc, part))
    tags = hashtags(facts.get("document tags", ""))
    category = (hashtags(facts.get("category", "")) or ("",))[0].lower()
    saved = _last_sync(marked)
    return Reading(
        source=_KINDS.get(category),
        url=_address(facts.get("url")),
        title=plain(facts["full title"]) if facts.get("full title") else None,
        authors=_authors(facts.get("author")),
        description=plain(facts.get("summary", "")) or None,
        recorded_at=saved,
        recorded_at_from="body",
        tags=(*doc.meta.tags("tags", "tag"), *tags),
        importance=FAVORITE_IMPORTANCE if "favorite" in map(str.lower, tags) else None,
        body=without(lines, _machine_lines(lines, parts, about, marked)),
        highlights=marks,
    )


def _address(written: str | None) -> str | None:
    if not written:
        return None
    return as_url(written) or next((as_url(url) for _, url in links(written)), None)


def _authors(written: str | None) -> tuple[str, ...] | None:
    found = names(written)
    return tuple(re.sub(r" on Twitter$", "", name) for name in found) or None


def _last_sync(parts: list[Section]) -> datetime | None:
    """Return the time of the last sync heading: without one there is no date at all."""
    found = [_SYNC.match(part.title) for part in parts]
    dates = [parse_date(match.group(1)) for match in found if match]
    return max((date for date in dates if date), default=None)


def _machine_lines(
    lines: list[str], parts: list[Section], about: Section | None, marked: list[Section]
) -> set[int]:
    """Return the lines that are the tool's frame: title, cover, metadata, lists, headings."""
    gone = {i for i, line in enumerate(lines) if line.startswith("![rw-book-cover]")}
    gone |= {part.heading for part in parts if part.level == 1}
    gone |= {part.heading for part in parts if letters(part.title) == "fulldocument"}
    for part in [about, *marked] if about else marked:
        nested = [p for p in parts if p.heading > part.heading and p.level > part.level]
        end = min([part.end, *(p.heading for p in nested if not _framed(p))])
        gone |= set(range(part.heading, max(end, part.start)))
    return gone


def _framed(part: Section) -> bool:
    return letters(part.title) in ("highlights", "metadata") or bool(_SYNC.match(part.title))


def _highlights(doc: Doc, part: Section) -> Iterator[Highlight]:
    """Yield a section's highlights; where they end in a link, only the link ends one.

    A list inside a highlight stands at the margin too, and opens no new one.
    """
    lines = doc.lines[part.start : part.end]
    linked = any(_ENDING.search(line) for line in lines)
    held: list[str] = []
    subs: dict[str, str] = {}
    start = closed = 0
    for offset, line in enumerate(lines):
        entry = item(line)
        sub = _SUB.match(entry[1]) if entry and entry[0] >= 2 else None
        if sub:
            subs[sub.group(1)] = sub.group(2).strip()
        elif entry and entry[0] < 2 and (closed or not linked or not held):
            if held:
                yield _highlight(held, subs, doc.line_number(part.start + start))
            held, subs, start = [entry[1]], {}, offset
            closed = bool(_ENDING.search(line))
        elif held and line.strip() and not line.startswith("#"):
            held.append(line.strip())
            closed = closed or bool(_ENDING.search(line))
    if held:
        yield _highlight(held, subs, doc.line_number(part.start + start))


def _highlight(held: list[str], subs: dict[str, str], line: int) -> Highlight:
    text = "\n".join(held)
    ending = _ENDING.search(text)
    at = ending["at"] if ending else ""
    what = ending["what"] if ending else ""
    tags = hashtags(subs.get("Tags", ""))
    return Highlight(
        text=plain(text[: ending.start()] if ending else text),
        note=plain(subs["Note"]) if subs.get("Note") else None,
        color=next((tag for tag in tags if tag in _COLORS), None),
        tags=tuple(tag for tag in tags if tag not in _COLORS),
        location=number(at) if what == "Location" else None,
        start=seconds(at) if what == "Time" else None,
        url=as_url(ending["url"]) if ending else None,
        line=line,
    )


SHAPE = Shape("readwise", matches, read)
