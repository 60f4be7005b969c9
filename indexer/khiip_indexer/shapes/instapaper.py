"""Instapaper highlights: a quote that ends in a link or in `^h<id>`, the note below it."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import plain, quote_runs, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_END = re.compile(
    r"\[[^\]\n]{0,40}\]\((?P<url>https?://(?:www\.)?instapaper\.com/read/\d+/(?P<n>\d+))\)"
    r"(?:\s?\^h\d+)?\s*$|\^h(?P<id>\d+)\s*$"
)
_ANCHOR = re.compile(r"^\s*(\^h\d+)\s*(?:\n|$)")


def matches(doc: Doc) -> bool:
    if doc.has("instapaper.com/read/"):
        return True
    return (doc.meta.text("source") or "").lower() == "instapaper"


def read(doc: Doc) -> Reading:
    """`date` is the day of saving here, `pubdate` the article's own."""
    meta = doc.meta
    marks, used = _highlights(doc)
    return Reading(
        recorded_at=parse_date(meta.text("date") or ""),
        valid_from=parse_date(meta.text("pubdate", "published") or ""),
        body=without(doc.lines, used),
        highlights=marks,
    )


def _highlights(doc: Doc) -> tuple[tuple[Highlight, ...], set[int]]:
    lines = doc.lines
    found: list[Highlight] = []
    used: set[int] = set()
    for run in quote_runs(lines):
        quote, note = run.quote(lines), run.below(lines)
        anchor = _ANCHOR.match(note)
        if anchor:  # the block id may stand alone in the next line
            quote, note = f"{quote} {anchor.group(1)}", note[anchor.end() :]
        ending = _END.search(quote)
        number = ending and (ending["id"] or ending["n"])
        if ending and number:
            found.append(
                Highlight(
                    text=plain(quote[: ending.start()]),
                    note=plain(note) or None,
                    id=f"h{number}",
                    url=ending["url"],
                    line=doc.line_number(run.start),
                )
            )
            used |= set(run.span)
    return tuple(found), used


SHAPE = Shape("instapaper", matches, read)
