"""Podcasts: Snipd's snips, PodNotes' timed notes."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight, TimedText
from khiip_indexer.payloads.lines import (
    Section,
    hashtags,
    item,
    letters,
    links,
    pairs,
    plain,
    quote_runs,
    seconds,
    section,
    sections,
    without,
)
from khiip_indexer.shapes.base import Doc, Reading, Shape, names

STARRED_IMPORTANCE = 0.8
_SPAN = re.compile(r"(\d{1,2}(?::\d{2}){1,2})\s*[-–—]\s*(\d{1,2}(?::\d{2}){1,2})")
_BRACKETS = re.compile(r"<[^<>\n]{0,200}>")


def matches(doc: Doc) -> bool:
    return doc.has("share.snipd.com/snip/", "share.snipd.com/episode/")


def read(doc: Doc) -> Reading:
    """A podcast has no source of its own: it is a page. Snip titles are the tool's words."""
    lines = doc.lines
    about = section(lines, "Episode metadata")
    facts = pairs(lines, about.start, about.end) if about else {}
    snips = [
        part
        for part in sections(lines)
        if part.level == 3 and "share.snipd.com/snip/" in part.title
    ]
    marks = tuple(_snip(doc, part) for part in snips)
    tags = dict.fromkeys(tag for mark in marks for tag in mark.tags)
    gone = [i for part in snips for i in _read_lines(lines, part)]
    gone += range(about.heading, about.end) if about else ()
    gone += [i for i, line in enumerate(lines) if line.startswith("Created with [Snipd]")]
    gone += [part.heading for part in (section(lines, "Snips"),) if part]
    return Reading(
        source="web",
        url=next((as_url(url) for _, url in links(facts.get("episode url", ""))), None),
        title=plain(facts["episode title"]) if facts.get("episode title") else None,
        authors=names(facts.get("owner / host")),
        site_name=plain(facts["show"]) if facts.get("show") else None,
        recorded_at=parse_date(facts.get("export date", "")),
        recorded_at_from="body",
        valid_from=parse_date(facts.get("episode publish date", "")),
        tags=(*doc.meta.tags("tags", "tag"), *tags),
        importance=STARRED_IMPORTANCE if any(mark.starred for mark in marks) else None,
        body=without(lines, gone),
        highlights=marks,
    )


def _read_lines(lines: list[str], part: Section) -> list[int]:
    """Return the snip's lines but for its summary, which is the tool's text and no quotation.

    The summary stands between the snip's heading and the first heading below it.
    """
    inner = range(part.start, part.end)
    own = next((i for i in inner if lines[i].startswith(("#", "<", ">"))), part.end)
    said = {i for i in range(part.start, own) if lines[i].strip() and not _SPAN.search(lines[i])}
    return [i for i in range(part.heading, part.end) if i not in said]


def _snip(doc: Doc, part: Section) -> Highlight:
    lines = doc.lines[part.start : part.end]
    text = "\n".join(lines)
    span = _SPAN.search(text)
    title, url = next(iter(links(part.title)), (part.title, ""))
    quote = _under(lines, "quote") or _spoken(lines)
    note = _under(lines, "note")
    return Highlight(
        text=quote,
        note=note or None,
        title=plain(title),
        tags=hashtags(part.title.rsplit(")", 1)[-1]),
        start=seconds(span.group(1)) if span else None,
        end=seconds(span.group(2)) if span else None,
        starred="⭐" in part.title,
        url=as_url(url),
        line=doc.line_number(part.heading),
    )


def _under(lines: list[str], title: str) -> str:
    for part in sections(lines):
        if letters(part.title).endswith(title):
            inner = "\n".join(lines[part.start : part.end])
            runs = [run.quote(lines) for run in quote_runs(lines, part.start, part.end)]
            return plain("\n".join(runs) if runs else inner)
    return ""


def _spoken(lines: list[str]) -> str:
    """Return the transcript, quoted or in the older form of HTML."""
    found = _under(lines, "transcript")
    if found:
        return found
    inside = [line for line in lines if line.startswith("<") or "</" in line]
    return plain(_BRACKETS.sub(" ", "\n".join(inside)))


# PodNotes ----------------------------------------------------------------------------------

_MOMENT = re.compile(
    r"\[[\d:]{3,9}\]\(obsidian://podnotes\?[^)\s]*?time=(\d+(?:\.\d+)?)[^)\s]*\)[ \t]*(.*)$"
)


def matches_podnotes(doc: Doc) -> bool:
    """Say whether the note is on a podcast episode, or holds its timed links."""
    kind = (doc.meta.text("type") or "").lower()
    return kind == "podcastepisode" or doc.has("obsidian://podnotes?")


def read_podnotes(doc: Doc) -> Reading:
    """The timed lines are the listener's notes."""
    podcast = names(*doc.meta.texts("podcast"))
    found: list[TimedText] = []
    used: list[int] = []
    for index, line in enumerate(doc.lines):
        match = _MOMENT.search(line) if "podnotes" in line else None
        if match:
            entry = item(line)
            shown = match.group(2).strip() or plain((entry[1] if entry else line)[: match.start()])
            found.append(
                TimedText(
                    start=float(match.group(1)), text=plain(shown), line=doc.line_number(index)
                )
            )
            used.append(index)
    return Reading(
        source="web",
        site_name=podcast[0] if podcast else None,
        body=without(doc.lines, used),
        extras={"notes": tuple(note for note in found if note.text)},
    )


SHAPE = Shape("snipd", matches, read)
PODNOTES = Shape("podnotes", matches_podnotes, read_podnotes)
