"""Annotator: quotations that carry their annotation as JSON."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import hashtags, headings, plain, quote_runs, unquote, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_PART = re.compile(r"%%(PREFIX|HIGHLIGHT|POSTFIX|LINK|COMMENT|TAGS)%%")
_BLOCK_ID = re.compile(r"^\^([\w-]{1,60})\s*$")
_FENCE = "```annotation-json"


def matches(doc: Doc) -> bool:
    return "annotation-target" in doc.meta or doc.has(_FENCE)


def read(doc: Doc) -> Reading:
    """No pages are known, only offsets; what stands around a highlight is not the reader's."""
    lines = doc.lines
    target = doc.meta.text("annotation-target") or ""
    found: list[Highlight] = []
    used: set[int] = set()
    dates: list[datetime] = []
    for run in quote_runs(lines):
        quote = run.quote(lines)
        if _FENCE not in quote:
            continue
        anchor = _BLOCK_ID.match(lines[run.stop]) if run.stop < len(lines) else None
        mark, when = _mark(quote, anchor.group(1) if anchor else None, doc.line_number(run.start))
        found.append(mark)
        dates += [when] if when else []
        used |= set(range(run.start, run.stop + bool(anchor)))
    titled = any(level == 1 for _, level, _ in headings(lines))
    tags = dict.fromkeys(tag for mark in found for tag in mark.tags)
    return Reading(
        source="pdf",
        url=as_url(target),
        title=doc.meta.text("title") or (None if titled else _name(target)),
        recorded_at=max(dates, default=None),
        recorded_at_from="body",
        extra_tags=tuple(tags),
        body=without(lines, used),
        highlights=tuple(found),
        extras={"file": None if as_url(target) else target or None, "annotated": True},
    )


def _name(target: str) -> str | None:
    name = target.strip("[]").rsplit("/", 1)[-1]
    return re.sub(r"\.(?:pdf|epub)$", "", name, flags=re.IGNORECASE) or None


def _mark(quote: str, block_id: str | None, line: int) -> tuple[Highlight, datetime | None]:
    data = _json(quote)
    pieces = _PART.split(quote)
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=False))
    exact = _exact(data) or plain(parts.get("HIGHLIGHT", "").strip("* \n"))
    comment = data.get("text") if isinstance(data.get("text"), str) else parts.get("COMMENT", "")
    created = data.get("created")
    when = parse_date(created) if isinstance(created, str) else None
    mark = Highlight(
        text=exact.strip(),
        note=plain(str(comment)) or None,
        tags=hashtags(parts.get("TAGS", "")),
        id=block_id,
        line=line,
    )
    return mark, when.replace(microsecond=0) if when else None


def _json(quote: str) -> dict[str, Any]:
    """Return the annotation's JSON; a damaged one says nothing, and the text parts stand in."""
    body = quote.split(_FENCE, 1)[1].split("```", 1)[0]
    try:
        data = json.loads("\n".join(unquote(text) for text in body.split("\n")))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _exact(data: dict[str, Any]) -> str:
    """Return the exact text of the first selector that has one."""
    targets = data.get("target")
    for target in targets if isinstance(targets, list) else []:
        selectors = target.get("selector") if isinstance(target, dict) else None
        for selector in selectors if isinstance(selectors, list) else []:
            exact = selector.get("exact") if isinstance(selector, dict) else None
            if isinstance(exact, str) and exact.strip():
                return exact
    return ""


SHAPE = Shape("annotator", matches, read)
