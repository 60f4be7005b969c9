"""Kindle highlights: `kindle-sync` in the frontmatter, or `kindle://book?` links in the body."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import links, number, pairs, plain, section, without
from khiip_indexer.shapes.base import Doc, Reading, Shape, names, nested

_ENDING = re.compile(
    r"[—–-]\s?(?:location|page):?\s?\[(?P<at>[^\]\n]{0,20})\]\((?P<link>[^)\s]*)\)"
    r"(?:\s*\^(?P<id>[\w-]{1,60}))?\s*$",
    re.IGNORECASE,
)
_AND = re.compile(r",\s+and\s+|,\s+|\s+and\s+|;\s*")


def matches(doc: Doc) -> bool:
    return doc.meta.first("kindle-sync") is not None or doc.has("kindle://book?action=open")


def read(doc: Doc) -> Reading:
    """The frontmatter's nested map knows the book; the body's list is a copy of it."""
    lines = doc.lines
    book = nested(doc.meta, "kindle-sync")
    about = section(lines, "Metadata")
    facts = pairs(lines, about.start, about.end) if about else {}
    asin = book.text("asin") or facts.get("asin")
    reference = as_url(facts.get("reference"))
    marks, used = _highlights(doc)
    if not marks and "kindle-sync" not in doc.meta:
        return Reading()  # a note of one's own that links to a place in a book
    gone = used | (set(range(about.heading, about.end)) if about else set())
    gone |= {i for i, line in enumerate(lines) if line.startswith("# ") or line == "## Highlights"}
    authors = book.text("author") or shown(facts.get("author"))
    return Reading(
        source="pdf",
        url=reference or (f"https://www.amazon.com/dp/{asin}" if asin else None),
        title=book.text("title"),
        authors=names(*_AND.split(authors)) if authors else None,
        recorded_at=parse_date(book.text("lastAnnotatedDate") or ""),
        body=without(lines, gone),
        highlights=marks,
        extras={"asin": asin, "annotated": True},
    )


def shown(written: str | None) -> str | None:
    """Return the text of a field that may be written as a link."""
    if not written:
        return None
    return next((text for text, _ in links(written)), written)


def _highlights(doc: Doc) -> tuple[tuple[Highlight, ...], set[int]]:
    """Read `text — location: [503](kindle://…) ^ref-884`, then the reader's note up to the rule."""
    lines = doc.lines
    found: list[Highlight] = []
    used: set[int] = set()
    index = 0
    while index < len(lines):
        ending = _ENDING.search(lines[index]) if "](" in lines[index] else None
        if ending is None:
            index += 1
            continue
        first, after = _first_line(lines, index, used), _after(lines, index + 1)
        text = [*lines[first:index], lines[index][: ending.start()]]
        found.append(
            Highlight(
                text=plain("\n".join(text).rstrip("—–- ")),
                note=plain("\n".join(lines[index + 1 : after])) or None,
                location=number(ending["at"]),
                id=ending["id"],
                line=doc.line_number(first),
            )
        )
        used |= set(range(first, after))
        index = after
    return tuple(found), used


def _first_line(lines: list[str], index: int, used: set[int]) -> int:
    """Return where a highlight of several lines begins."""
    while index and lines[index - 1].strip() and index - 1 not in used:
        if _frame(lines[index - 1]):
            break
        index -= 1
    return index


def _after(lines: list[str], index: int) -> int:
    """Return where the reader's note ends: at the rule, a heading or the next highlight."""
    while index < len(lines) and not _frame(lines[index]) and "](kindle:" not in lines[index]:
        index += 1
    return index


def _frame(line: str) -> bool:
    return line.startswith(("#", "---", "***"))


SHAPE = Shape("kindle", matches, read)
