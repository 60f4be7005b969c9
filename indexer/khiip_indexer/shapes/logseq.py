"""Logseq: pages with `key:: value` lines for frontmatter, and PDF notes `hls__name.md`."""

from __future__ import annotations

import re
from datetime import datetime

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.metadata import unwrap_wikilinks
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import item, links, plain
from khiip_indexer.shapes.base import Doc, Reading, Shape, cut_tags, names

_PROPERTY = re.compile(r"^[ \t]*(?:[-*][ \t]+)?([A-Za-z][\w./-]{0,60})::[ \t]*(.*)$")
_OWN = frozenset({"id", "collapsed", "heading", "background-color", "logseq.order-list-type"})
_PDF_NAME = re.compile(r"\.pdf$", re.IGNORECASE)
_JOURNAL = re.compile(r"(?:^|/)journals/(\d{4})[_-](\d{2})[_-](\d{2})\.md$", re.IGNORECASE)
_MARKERS = {
    "TODO": " ",
    "LATER": " ",
    "WAITING": " ",
    "DOING": "/",
    "NOW": "/",
    "DONE": "x",
    "CANCELED": "-",
}
_TODO = re.compile(rf"^(?P<lead>[ \t]*[-*][ \t]+)(?P<word>{'|'.join(_MARKERS)})[ \t]+(?P<text>.*)$")
_BLOCK_REF = re.compile(r"\(\([0-9a-f-]{36}\)\)|\{\{(?:embed|query|renderer)[^{}\n]*\}\}")
_SCHEDULED = re.compile(r"\b(SCHEDULED|DEADLINE): <(\d{4}-\d{2}-\d{2})[^>\n]*>")


def matches_pdf(doc: Doc) -> bool:
    """Say whether the page holds the marks of a PDF."""
    return doc.has("ls-type:: annotation")


def read_pdf(doc: Doc) -> Reading:
    """`hl-page` is the sheet, `hl-stamp` when it was marked; a picture has no text."""
    top = _page_properties(doc)
    marks, dates = _highlights(doc)
    file = top.get("file", "")
    shown = next((text for text, _ in links(file)), unwrap_wikilinks(file))
    stem = re.sub(r"^hls__", "", doc.stem)
    return Reading(
        source="pdf",
        title=_PDF_NAME.sub("", plain(shown)) or stem,
        authors=names(top.get("author")) or None,
        recorded_at=max(dates, default=None),
        recorded_at_from="body",
        tags=cut_tags(top.get("tags", "")),
        body="\n" * (len(doc.lines) - 1),
        highlights=marks,
        extras={"file": top.get("file-path") or (plain(shown) or None), "annotated": True},
    )


def _page_properties(doc: Doc) -> dict[str, str]:
    """Return the properties of the page: those above its first bullet."""
    found: dict[str, str] = {}
    for line in doc.lines:
        match = _PROPERTY.match(line)
        if match and not line.lstrip().startswith(("-", "*")):
            found.setdefault(match.group(1).lower(), match.group(2).strip())
        elif line.strip():
            break
    return found


def _highlights(doc: Doc) -> tuple[tuple[Highlight, ...], list[datetime]]:
    found: list[Highlight] = []
    dates: list[datetime] = []
    starts = [i for i, line in enumerate(doc.lines) if (entry := item(line)) and entry[0] == 0]
    for first, last in zip(starts, [*starts[1:], len(doc.lines)], strict=False):
        facts: dict[str, str] = {}
        text: list[str] = []
        for line in doc.lines[first:last]:
            match = _PROPERTY.match(line)
            if match:
                facts.setdefault(match.group(1).lower(), match.group(2).strip())
            else:
                text.append(re.sub(r"^[ \t]*(?:-[ \t]+)?", "", line))
        words = "\n".join(text).strip()
        stamp = parse_date(facts.get("hl-stamp", ""))
        if facts.get("ls-type") != "annotation" or words.startswith("[:span]"):
            continue
        dates += [stamp] if stamp else []
        page = facts.get("hl-page", "")
        found.append(
            Highlight(
                page=int(page) if page.isdecimal() and len(page) < 9 else None,
                text=plain(words),
                color=facts.get("hl-color") or None,
                id=facts.get("id") or None,
                line=doc.line_number(first),
            )
        )
    return tuple(found), dates


def matches_page(doc: Doc) -> bool:
    """A page shows itself by its properties' form; a folder's name alone proves nothing."""
    if "::" not in doc.text:
        return bool(_JOURNAL.search(doc.path)) and doc.text.startswith("- ")
    first = doc.text.lstrip("\n")[:40]
    opens = re.match(r"(?:title|tags|alias|type|public)::", first)
    return bool(opens) or doc.has("\n  id:: ", "\n\tid:: ", "collapsed:: true")


def read_page(doc: Doc) -> Reading:
    """Turn Logseq's own marks into Markdown's; its properties are no inline fields."""
    top = _page_properties(doc)
    day = _JOURNAL.search(doc.path)
    kept = [_line(line, index < len(top)) for index, line in enumerate(doc.lines)]
    when = parse_date("-".join(day.groups())) if day else None
    title = top.get("title") or (doc.stem.replace("___", "/") if "___" in doc.stem else None)
    return Reading(
        title=title,
        url=as_url(top.get("url")),
        recorded_at=when,
        recorded_at_from="name",
        extra_tags=cut_tags(top.get("tags", "")),
        body="\n".join(kept),
    )


def _line(line: str, top: bool) -> str:
    match = _PROPERTY.match(line) if "::" in line else None
    if match and (top or match.group(1).lower() in _OWN):
        return ""
    todo = _TODO.match(line)
    if todo:
        line = f"{todo['lead']}[{_MARKERS[todo['word']]}] {todo['text']}"
    if "<" in line:
        line = _SCHEDULED.sub(lambda m: ("⏳ " if m[1] == "SCHEDULED" else "📅 ") + m[2], line)
    return _BLOCK_REF.sub("", line) if "((" in line or "{{" in line else line


PDF = Shape("logseq-pdf", matches_pdf, read_pdf)
PAGE = Shape("logseq-page", matches_page, read_page)
