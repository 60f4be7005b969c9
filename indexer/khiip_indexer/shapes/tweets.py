"""Posts saved by Tweet to Markdown and ReadItLater."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url, source_of
from khiip_indexer.payloads.lines import links, plain, without
from khiip_indexer.payloads.posts import read_thread
from khiip_indexer.shapes.base import Doc, Reading, Shape, names

TITLE_CHARS = 80
_TAIL_TAGS = re.compile(r"(?:\s+#[^\s#]{1,100}){1,40}$")
_AVATAR = re.compile(r"^!\[[^\]\n]*\]\([^)\s]*\)\s*$")
_HEAD = re.compile(r"^[^\[\]\n]{1,80} \(\[@")
_SIGNED = re.compile(
    r"— [^\[\n]{1,120}?\(@(?P<handle>\w{1,20})\) \[(?P<day>[^\]\n]{4,40})\]\((?P<url>[^)\s]+)\)"
)
_TITLE = re.compile(r"^# \[(?P<title>.+)\]\((?P<url>https?://[^)\s]+)\)\s*$")


def first_line(text: str) -> str | None:
    """Return a post's first line as its title, without hashtags at the end."""
    line = text.split("\n", 1)[0].strip()
    line = _TAIL_TAGS.sub("", line) or line
    return line[:TITLE_CHARS].rstrip() or None


def matches(doc: Doc) -> bool:
    meta = doc.meta
    if not (meta.text("handle") and meta.text("fetched")):
        return False
    return source_of(as_url(meta.text("source"))) == "x"


def read(doc: Doc) -> Reading:
    """`fetched` is the day of saving, `date` the post's own."""
    meta, lines = doc.meta, doc.lines
    handle = (meta.text("handle") or "").removeprefix("@")
    avatars = [
        i for i, line in enumerate(lines[:-1]) if _AVATAR.match(line) and _HEAD.match(lines[i + 1])
    ]
    body = without(lines, avatars)
    thread = read_thread(body, handle, doc.first_line)
    return Reading(
        title=meta.text("title") or first_line(thread.text),
        authors=names(handle),
        recorded_at=parse_date(meta.text("fetched") or ""),
        valid_from=parse_date(meta.text("date") or ""),
        clipped=True,
        body=body,
    )


def matches_read_it_later(doc: Doc) -> bool:
    """Say whether the first lines name the tool."""
    return "[[ReadItLater]]" in doc.text[:200]


def read_read_it_later(doc: Doc) -> Reading:
    """Its first line names the tool and the kind, its title is a link to the page."""
    lines = doc.lines
    frame = [i for i, line in enumerate(lines[:8]) if "[[ReadItLater]]" in line]
    title = next(((i, m) for i, line in enumerate(lines[:12]) if (m := _TITLE.match(line))), None)
    signed = _SIGNED.search(doc.text) if "(@" in doc.text else None
    first_link = next((url for line in lines[:40] for _, url in links(line) if as_url(url)), None)
    url = title[1]["url"] if title else (signed["url"] if signed else first_link)
    return Reading(
        url=as_url(url),
        title=plain(title[1]["title"]) if title else None,
        authors=names(signed["handle"]) if signed else None,
        valid_from=parse_date(signed["day"]) if signed else None,
        clipped=True,
        body=without(lines, frame, [title[0]] if title else []),
    )


SHAPE = Shape("tweet-to-markdown", matches, read)
READ_IT_LATER = Shape("read-it-later", matches_read_it_later, read_read_it_later)
