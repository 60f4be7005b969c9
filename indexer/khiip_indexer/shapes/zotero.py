"""Literature notes from Zotero: annotation links in any template, and the reader's own notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import plain, quote_runs, unquote, without
from khiip_indexer.shapes.base import Doc, Reading, Shape, names

_LINK = re.compile(
    r"\(?\[(?P<shown>[^\[\]\n]*)\]\((?P<url>zotero://open-(?:pdf|epub)/[^)\s]*annotation=(?P<id>\w+)[^)\s]*)\)\)?"
)
_CALLOUT = re.compile(
    r"^\[!(?P<kind>[\w -]{1,30})(?:\|(?P<meta>[^\]\n]{0,60}))?\][+-]?[ \t]*(?P<title>.*)$"
)
_COLOR_WORD = re.compile(
    r"\b(red|orange|yellow|green|cyan|blue|purple|magenta|gr[ae]y)\b|(#[0-9a-f]{6})\b",
    re.IGNORECASE,
)
_KIND_WORDS = re.compile(r"\b(?:\w{3,8} )?(?:highlight|underline|annotation)\s*$", re.IGNORECASE)
_LABEL = re.compile(
    r"^(?:pages?|seite|pp?)?\.?\s*([a-z]?\d{1,6}[a-z]?(?:[-–]\d{1,6})?|[ivxlcdm]{1,8})$",
    re.IGNORECASE,
)
_IMPORTED = re.compile(r"%%\s*Import Date:\s*([^%\n]{8,40})%%")
_IMPORT_LINE = re.compile(
    r"^(?:\*\*Imported:[^*\n]*\*\*|%%\s*Import Date:.*|%% (?:begin|end) [\w-]+ %%)\s*$"
)
_QUOTES = "\"“”„«»'‘’ \t\n"


@dataclass(frozen=True, slots=True)
class _Found:
    mark: Highlight
    lines: range


def matches(doc: Doc) -> bool:
    """A note of one's own may quote a PDF with such a link too: a literature note says whose."""
    if not (doc.has("zotero://") and doc.has("annotation=")):
        return False
    meta = doc.meta
    named = meta.text("citekey", "citation_key", "doi", "authors", "author", "itemType", "year")
    return bool(named) or doc.has("%% begin ", "%% Import Date", "**Imported:")


def read(doc: Doc) -> Reading:
    """`page=` in the links is the printed label, not the sheet."""
    meta = doc.meta
    found = list(_annotations(doc))
    imported = [parse_date(text.strip()) for text in _IMPORTED.findall(doc.text)]
    saved = max((when for when in imported if when), default=None)
    frame = [i for i, line in enumerate(doc.lines) if _IMPORT_LINE.match(line)]
    written = meta.text("year", "date", "published", "issued") or ""
    return Reading(
        source="pdf",
        url=literature_url(doc),
        authors=literature_authors(doc),
        recorded_at=saved.replace(microsecond=0) if saved else None,
        recorded_at_from="body",
        valid_from=parse_date(written),
        body=without(doc.lines, frame, *(part.lines for part in found)),
        highlights=tuple(part.mark for part in found),
        extras={
            "citekey": (meta.text("citekey", "citation_key") or "").removeprefix("@") or None,
            "doi": meta.text("doi"),
            "annotated": True,
        },
    )


def literature_url(doc: Doc) -> str | None:
    """Return the DOI as an address, else the frontmatter's URL."""
    doi = (doc.meta.text("doi") or "").strip()
    if as_url(doi):
        return doi
    found = re.search(r"10\.\d{4,9}/\S+", doi)
    return f"https://doi.org/{found.group(0)}" if found else as_url(doc.meta.text("url"))


def literature_authors(doc: Doc) -> tuple[str, ...] | None:
    """Return the authors; one text is cut at `;`, else at `, ` (first name first)."""
    written = doc.meta.texts("authors", "author", "creators")
    if len(written) != 1:
        return names(*written) or None
    return names(*re.split(r";\s*" if ";" in written[0] else r",\s+", written[0])) or None


def _annotations(doc: Doc) -> Iterator[_Found]:
    lines = doc.lines
    runs = {run.start: run for run in quote_runs(lines)}
    index = 0
    while index < len(lines):
        run = runs.get(index)
        stop = run.stop if run else index + 1
        block = lines[index:stop]
        if not any("zotero://" in line and _LINK.search(line) for line in block):
            index = stop
            continue
        after = _comment_end(lines, stop)
        comment = plain("\n".join(lines[stop:after]))
        quoted = [unquote(line) for line in block] if run else block
        yield _Found(_highlight(quoted, comment, doc.line_number(index)), range(index, after))
        index = after


def _comment_end(lines: list[str], index: int) -> int:
    """Return where the comment below an annotation ends: at anything that opens another thing."""
    while index < len(lines):
        line = lines[index]
        if line.startswith((">", "#", "%%", "**Imported", "- ", "---")) or "zotero://" in line:
            break
        index += 1
    return index


def _highlight(block: list[str], comment: str, line: int) -> Highlight:
    text = "\n".join(block)
    link = _LINK.search(text)
    callout = _CALLOUT.match(block[0].strip())
    if callout:
        rest = [unquote(part) if part.startswith(">") else part for part in block[1:]]
        shown, inner = _LINK.sub("", "\n".join(rest)), callout["meta"] or callout["title"]
    else:
        before = text[: link.start()] if link else text
        after = text[link.end() :].strip() if link else ""
        shown, inner = before, before
        comment = "\n".join(part for part in (plain(after), comment) if part)
    color = _COLOR_WORD.search(inner)
    label = _LABEL.match((link["shown"] if link else "").strip())
    words = _KIND_WORDS.sub("", plain(shown.lstrip("-*+ ")).strip())
    return Highlight(
        text=words.strip(_QUOTES),
        note=comment or None,
        color=color.group(0).lower() if color else None,
        label=label.group(1) if label else None,
        id=link["id"] if link else None,
        url=link["url"] if link else None,
        line=line,
    )


# ZotLit ------------------------------------------------------------------------------------

_PAGE = re.compile(r"^(?:page|p\.?)\s*(?P<page>\d{1,6})\b", re.IGNORECASE)
_BLOCK_ID = re.compile(r"(?:^|\s)\^(?P<id>[A-Za-z0-9-]{6,60})\s*$")


def matches_zotlit(doc: Doc) -> bool:
    """Say whether ZotLit wrote the note: it leaves its key."""
    return "zotero-key" in doc.meta


def read_zotlit(doc: Doc) -> Reading:
    """Annotations are callouts titled `Page n`, a rule inside parts text from comment."""
    lines, meta = doc.lines, doc.meta
    runs = list(quote_runs(lines))
    marks = [(run, _zotlit_mark(run.quote(lines), doc.line_number(run.start))) for run in runs]
    kept = [(run, mark) for run, mark in marks if mark and mark.text]
    return Reading(
        source="pdf",
        url=literature_url(doc),
        authors=literature_authors(doc),
        valid_from=parse_date(meta.text("year", "published", "issued") or ""),
        body=without(lines, *(range(run.start, run.stop) for run, _ in kept)),
        highlights=tuple(mark for _, mark in kept),
        extras={
            "citekey": (meta.text("citekey") or "").removeprefix("@") or None,
            "zotero_key": meta.text("zotero-key"),
            "doi": meta.text("doi"),
            "annotated": True,
        },
    )


def _zotlit_mark(quote: str, line: int) -> Highlight | None:
    first, _, rest = quote.partition("\n")
    callout = _CALLOUT.match(first)
    page = (
        _PAGE.match(callout["title"].strip().strip("[")) if callout else _PAGE.match(first.strip())
    )
    if callout is None and page is None:
        return None
    block = _BLOCK_ID.search(rest)
    words = rest[: block.start()] if block else rest
    text, _, comment = words.partition("\n---\n")
    color = _COLOR_WORD.search((callout["meta"] or "") if callout else "")
    return Highlight(
        page=int(page["page"]) if page else None,
        text=plain("\n".join(unquote(part) for part in text.split("\n"))).strip(_QUOTES),
        note=plain(comment) or None,
        color=color.group(0).lower() if color else None,
        id=block["id"] if block else None,
        line=line,
    )


SHAPE = Shape("zotero", matches, read)
ZOTLIT = Shape("zotlit", matches_zotlit, read_zotlit)
