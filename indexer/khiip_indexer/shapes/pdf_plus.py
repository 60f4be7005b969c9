"""PDF++: quotations that link to a selection in a PDF of the vault."""

from __future__ import annotations

import re
from urllib.parse import unquote as unescape

from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import QuoteRun, plain, quote_runs, unquote, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_TARGET = re.compile(
    r"(?P<file>[^\[\]()|#\n]{1,300}\.pdf)#(?P<params>[^\[\]()|\n]{0,300})", re.IGNORECASE
)
_LINK = re.compile(
    r"\(?!?\[\[[^\[\]|\n]{1,300}\.pdf#[^\[\]\n]{0,600}\]\]\)?|\(?\[[^\[\]\n]*\]\([^()\n]{1,300}\.pdf#[^()\n]{0,600}\)\)?",
    re.IGNORECASE,
)
_CALLOUT = re.compile(r"^\[!PDF(?:\|(?P<color>[^\]\n]{0,40}))?\][+-]?", re.IGNORECASE)
_MARKS = ("selection=", "annotation=", "rect=")
_LABEL = re.compile(r"\bp\.\s?(\w{1,10})\]\]")


def matches(doc: Doc) -> bool:
    return doc.has(".pdf#page=") and doc.has(*_MARKS)


def read(doc: Doc) -> Reading:
    """A note that quotes one PDF is that document's; one that cites many stays a note."""
    lines = doc.lines
    found = [(run, mark) for run in quote_runs(lines) if (mark := _mark(doc, run))]
    files = dict.fromkeys(file for run, (file, _) in found for file in [file])
    if not found:
        return Reading()
    marks = tuple(mark for _, (_, mark) in found)
    if len(files) > 1:
        return Reading(source="note", extras={"highlights": marks})
    return Reading(
        source="pdf",
        body=without(lines, *(range(run.start, run.stop) for run, _ in found)),
        highlights=marks,
        extras={"file": next(iter(files)), "annotated": True},
    )


def _mark(doc: Doc, run: QuoteRun) -> tuple[str, Highlight] | None:
    """Return (file, highlight) of a quotation: the inner quote, else all but the link."""
    lines = [unquote(line) for line in doc.lines[run.start : run.stop]]
    whole = "\n".join(lines)
    target = _TARGET.search(whole)
    if target is None or not any(mark in target["params"] for mark in _MARKS):
        return None
    params = dict(part.split("=", 1) for part in target["params"].split("&") if "=" in part)
    callout = _CALLOUT.match(lines[0])
    label = _LABEL.search(whole)
    inner = [unquote(line) for line in lines if line.startswith(">")]
    outer = [_LINK.sub("", _CALLOUT.sub("", line)) for line in lines if not line.startswith(">")]
    text, note = (inner, outer) if inner else (outer, [])
    color = params.get("color") or (callout["color"] if callout else None)
    page = params.get("page", "")
    return unescape(target["file"]).strip(), Highlight(
        page=int(page) if page.isdecimal() and len(page) < 9 else None,
        text=plain("\n".join(text)),
        note=plain("\n".join(note)) or None,
        color=color.lower() if color else None,
        label=label.group(1) if label else None,
        line=doc.line_number(run.start),
    )


SHAPE = Shape("pdf-plus", matches, read)
