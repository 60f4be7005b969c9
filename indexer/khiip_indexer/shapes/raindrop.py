"""Raindrop bookmarks: fields, a title and excerpt, highlights as callouts by colour."""

from __future__ import annotations

import re
from datetime import datetime

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import headings, plain, quote_runs, unquote, without
from khiip_indexer.shapes.base import Doc, Reading, Shape, cut_tags

_CALLOUT = re.compile(r"^>[ \t]?\[!(?P<kind>\w+)\][+-]?[ \t]*(?P<title>.*)$")
_FIELD = re.compile(r"^(?P<key>Source URL|Topics)::[ \t]*(?P<value>.*)$")
_COLORS = {"danger": "red", "info": "blue", "check": "green", "success": "green", "quote": "yellow"}
_UPDATED = re.compile(r"(?:Updated|Created) on (.{6,60})$")


def matches(doc: Doc) -> bool:
    return doc.meta.first("raindrop_id") is not None


def read(doc: Doc) -> Reading:
    """The first level-1 heading is `Metadata`, the second the title."""
    lines = doc.lines
    fields = {
        m["key"]: (i, m["value"]) for i, line in enumerate(lines) if (m := _FIELD.match(line))
    }
    title = next(
        ((i, plain(t)) for i, level, t in headings(lines) if level == 1 and t != "Metadata"), None
    )
    marks, used, dates = _highlights(doc)
    frame = {i for i, _ in fields.values()} | ({title[0]} if title else set())
    frame |= {i for i, _, t in headings(lines) if t in ("Metadata", "Highlights")}
    saved = parse_date(doc.meta.text("created", "date", "added") or "")
    return Reading(
        url=as_url(doc.meta.text("link")) or as_url(fields.get("Source URL", (0, ""))[1]),
        title=doc.meta.text("title") or (title[1] if title else None),
        recorded_at=saved or max(dates, default=None),
        recorded_at_from="frontmatter" if saved else "body",
        extra_tags=cut_tags(fields.get("Topics", (0, ""))[1]),
        body=without(lines, frame, used),
        highlights=marks,
    )


def _highlights(doc: Doc) -> tuple[tuple[Highlight, ...], set[int], list[datetime]]:
    """Return the highlights, the lines they stand on, and the days that they were changed."""
    lines = doc.lines
    found: list[Highlight] = []
    used: set[int] = set()
    dates: list[datetime] = []
    for run in quote_runs(lines):
        callout = _CALLOUT.match(lines[run.start])
        if callout is None:
            continue
        inner = [unquote(line) for line in lines[run.start + 1 : run.stop]]
        marked = [line for line in inner if not line.startswith(">")]
        notes = [unquote(line) for line in inner if line.startswith(">")]
        updated = _UPDATED.search(callout["title"])
        when = parse_date(updated.group(1)) if updated else None
        dates += [when] if when else []
        found.append(
            Highlight(
                text=plain("\n".join(marked)),
                note=plain("\n".join(notes)) or None,
                color=_COLORS.get(callout["kind"].lower()),
                line=doc.line_number(run.start),
            )
        )
        used |= set(range(run.start, run.stop))
    return tuple(found), used, dates


SHAPE = Shape("raindrop", matches, read)
