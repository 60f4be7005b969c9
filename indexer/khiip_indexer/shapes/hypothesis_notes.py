"""Hypothesis annotations: `- text — [Updated on …](https://hyp.is/…)` with sub-items."""

from __future__ import annotations

import re
from datetime import datetime

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import hashtags, headings, item, pairs, plain, section, without
from khiip_indexer.shapes.base import Doc, Reading, Shape, names, part_sites
from khiip_indexer.shapes.kindle import shown

_END = re.compile(
    r"[—–-]\s?\[Updated on (?P<when>[^\]\n]{4,40})\]\((?P<url>https?://hyp\.is/[^)\s]*)\)"
    r"(?:\s?[—–-]{1,3}\s?Group:\s*#?(?P<group>\S+))?\s*$"
)
_SUB = re.compile(r"^(Tags|Annotation|Group|Note):[ \t]*(.*)$")


def matches(doc: Doc) -> bool:
    kind = (doc.meta.text("doc_type") or "").lower()
    return kind == "hypothesis-highlights" or doc.has("](https://hyp.is/")


def read(doc: Doc) -> Reading:
    """The author is often the site: the service knows no more."""
    lines = doc.lines
    about = section(lines, "Metadata")
    facts = pairs(lines, about.start, about.end) if about else {}
    people, site = part_sites(names(shown(facts.get("author")), *doc.meta.texts("author")))
    marks, used, dates = _highlights(doc)
    tags = dict.fromkeys(tag for mark in marks for tag in mark.tags)
    frame = set(range(about.heading, about.end)) if about else set()
    frame |= {
        i for i, level, t in headings(lines) if level == 1 or t in ("Highlights", "Page Notes")
    }
    return Reading(
        source=None if as_url(doc.meta.text("url")) or facts.get("reference") else "web",
        url=as_url(doc.meta.text("url")) or as_url(facts.get("reference")),
        title=plain(facts["title"]) if facts.get("title") else None,
        authors=people,
        site_name=site,
        recorded_at=max(dates, default=None),
        recorded_at_from="body",
        tags=(*doc.meta.tags("tags", "tag"), *tags),
        body=without(lines, frame, used),
        highlights=marks,
    )


def _highlights(doc: Doc) -> tuple[tuple[Highlight, ...], set[int], list[datetime]]:
    lines = doc.lines
    part = section(lines, "Highlights")
    found: list[Highlight] = []
    dates: list[datetime] = []
    start, end = (part.start, part.end) if part else (0, len(lines))
    used: set[int] = set()
    opened = None
    starts = [i for i in range(start, end) if (entry := item(lines[i])) and entry[0] < 2]
    groups = [(i, j) for i, j in zip(starts, [*starts[1:], end], strict=False)]
    for first, last in groups:
        block = lines[first:last]
        if _SUB.match((item(block[0]) or (0, ""))[1]) and opened is not None:
            continue  # `- Group: …` at the margin belongs to the highlight above
        mark, when = _highlight(block, doc.line_number(first))
        if mark is None:
            continue
        opened = mark
        found.append(mark)
        dates += [when] if when else []
        used |= set(range(first, last))
    return tuple(found), used, dates


def _highlight(block: list[str], line: int) -> tuple[Highlight | None, datetime | None]:
    text: list[str] = []
    subs: dict[str, list[str]] = {}
    current: list[str] | None = None
    for raw in block:
        entry = item(raw)
        sub = _SUB.match(entry[1]) if entry and (entry[0] >= 2 or text) else None
        if sub:
            current = subs.setdefault(sub.group(1), [sub.group(2)])
        elif current is not None:
            current.append(raw.strip())
        else:
            text.append(entry[1] if entry and not text else raw.strip())
    joined = "\n".join(text).strip()
    ending = _END.search(joined)
    if ending is None:
        return None, None
    note = subs.get("Annotation") or subs.get("Note") or []
    group = ending["group"] or (subs.get("Group") or [""])[0].strip().removeprefix("#")
    mark = Highlight(
        text=plain(joined[: ending.start()].rstrip("—–- ")),
        note=plain("\n".join(note)) or None,
        tags=hashtags(" ".join(subs.get("Tags", []))),
        group=group or None,
        url=ending["url"],
        line=line,
    )
    return mark, parse_date(ending["when"])


SHAPE = Shape("hypothesis", matches, read)
