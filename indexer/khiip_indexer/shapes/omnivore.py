"""Omnivore articles: metadata above, quoted highlights with their labels below."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Highlight
from khiip_indexer.payloads.lines import (
    hashtags,
    headings,
    links,
    plain,
    quote_runs,
    section,
    without,
)
from khiip_indexer.shapes.base import Doc, Reading, Shape

_END = re.compile(
    r"\[[^\]\n]{0,8}\]\((?P<url>https?://omnivore\.app/me/[^)\s]*)\)"
    r"(?P<tags>[^\^\n]{0,2000})(?:\^(?P<id>[0-9a-f-]{4,40}))?\s*$"
)
_READ = re.compile(r"^\[Read (?:on Omnivore|Original)\]\(")
_FOLDER_DAY = re.compile(r"(?:^|/)(\d{4}-\d{2}-\d{2})/[^/]*$")
_STATES = {"archived": "done", "completed": "done", "reading": "in_progress", "inbox": "open"}


def matches(doc: Doc) -> bool:
    return doc.has("omnivore.app/me/")


def read(doc: Doc) -> Reading:
    """The original's URL may stand in the body only; the folder may be the day of saving."""
    lines, meta = doc.lines, doc.meta
    saved = parse_date(meta.text("date_saved") or "")
    folder = _FOLDER_DAY.search(doc.path)
    by_folder = parse_date(folder.group(1)) if folder and saved is None else None
    head = [i for i, line in enumerate(lines) if _READ.match(line) or line.strip() == "#Omnivore"]
    marks, used = _highlights(doc)
    original = next(
        (url for i in head for text, url in links(lines[i]) if "Original" in text), None
    )
    return Reading(
        url=as_url(meta.text("original_url")) or as_url(original),
        recorded_at=saved or by_folder,
        recorded_at_from="frontmatter" if saved else "name",
        valid_from=parse_date(meta.text("date_published") or ""),
        site_name=meta.text("site_name"),
        title=meta.text("title") or _first_title(lines),
        tags=tuple(meta.tags("tags", "tag")),
        mem_state=_STATES.get((meta.text("state") or "").lower()),
        body=without(lines, head, used, _titles(lines)),
        highlights=marks,
    )


def _titles(lines: list[str]) -> set[int]:
    return {i for i, level, title in headings(lines) if level == 1 or title == "Highlights"}


def _first_title(lines: list[str]) -> str | None:
    return next((plain(title) for _, level, title in headings(lines) if level == 1), None)


def _highlights(doc: Doc) -> tuple[tuple[Highlight, ...], set[int]]:
    lines = doc.lines
    part = section(lines, "Highlights")
    runs = list(quote_runs(lines, part.start, part.end)) if part else []
    found = tuple(
        _highlight(run.quote(lines), run.below(lines), doc.line_number(run.start)) for run in runs
    )
    return found, {index for run in runs for index in run.span}


def _highlight(quote: str, note: str, line: int) -> Highlight:
    ending = _END.search(quote)
    return Highlight(
        text=plain(quote[: ending.start()] if ending else quote),
        note=plain(note) or None,
        tags=hashtags(ending["tags"]) if ending else (),
        id=ending["id"] if ending else None,
        url=ending["url"] if ending else None,
        line=line,
    )


SHAPE = Shape("omnivore", matches, read)
