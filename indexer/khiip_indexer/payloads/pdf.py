"""`pdf`: papers, books and documents: their pages, or what was marked in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from khiip_indexer.payloads.build import extras, finish
from khiip_indexer.payloads.common import Extras, Facts, Highlight, Material, Media
from khiip_indexer.payloads.flow import (
    below_title,
    highlights_text,
    marks,
    media_of,
    own_words,
    reader_notes,
)
from khiip_indexer.payloads.project import project, tail_segments
from khiip_indexer.types import Body, Segment

_PAGE_HEADING = re.compile(r"^(?:page|seite|pagina|página|p\.?)\s*(\d{1,5})$", re.IGNORECASE)
HEAD_PAGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page's text; `number` counts sheets from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfPayload(Extras):
    """A document; `own_notes` is what the reader wrote, apart from the document's words."""

    kind: str = "pdf"
    title: str
    authors: tuple[str, ...]
    pages: tuple[Page, ...]
    figures: tuple[str, ...]
    tables: tuple[str, ...]
    metadata: dict[str, str] | None
    media: tuple[Media, ...]
    highlights: tuple[Highlight, ...]


def build(material: Material) -> PdfPayload:
    """Return the payload of a document.

    A note that holds highlights is a reader's: its other text is `own_notes`. A note that holds
    none is the document's text.
    """
    reading, body = material.reading, material.body
    annotated = bool(reading.highlights) or reading.extras.get("annotated", False)
    own = own_words(body, material.title) if annotated else ""
    payload = PdfPayload(
        title=material.title,
        authors=material.authors,
        pages=_marked_pages(reading.highlights) if annotated else _pages(body, material.title),
        figures=(),
        tables=(),
        metadata=_metadata(material),
        media=media_of(body),
        **{**extras(material), "highlights": reading.highlights or marks(body)},
        description=material.description,
        own_notes=own or None,
    )
    return finish(payload, material)


def _pages(body: Body, title: str) -> tuple[Page, ...]:
    """Cut the text at `Page n` headings; without them it is one page."""
    pages: list[tuple[int, list[str]]] = []
    for block in below_title(body, title):
        match = _PAGE_HEADING.match(block.text) if block.kind == "heading" else None
        if match:
            pages.append((int(match.group(1)), []))
        elif pages:
            pages[-1][1].append(block.text)
        elif block.text.strip():
            pages.append((1, [block.text]))
    if not body.blocks and body.text.strip():
        pages.append((1, [body.text]))
    return tuple(Page(number=number, text="\n\n".join(text)) for number, text in pages)


def _marked_pages(highlights: tuple[Highlight, ...]) -> tuple[Page, ...]:
    """Return the pages that something was marked on, with what was marked."""
    pages: dict[int, list[str]] = {}
    for mark in highlights:
        if mark.page is not None:
            pages.setdefault(mark.page, []).append(mark.text)
    return tuple(Page(number=n, text="\n\n".join(text)) for n, text in sorted(pages.items()))


def _metadata(material: Material) -> dict[str, str] | None:
    names = ("doi", "year", "journal", "publisher", "publication", "isbn", "volume", "issue")
    found = {name: material.meta.text(name) for name in names}
    return {name: text for name, text in found.items() if text} or None


def primary_text(payload: PdfPayload) -> tuple[str, str]:
    """Return the head of the pages; a reader's note without pages has highlights or own words."""
    head = "\n\n".join(page.text for page in payload.pages[:HEAD_PAGES] if page.text)
    if head:
        return head, "pages"
    marked = highlights_text(payload.highlights)
    if marked:
        return marked, "highlights"
    return (payload.own_notes, "own_notes") if payload.own_notes else ("", "pages")


def embed_text(payload: PdfPayload, facts: Facts) -> str:
    text, origin = primary_text(payload)
    own = payload.own_notes if origin != "own_notes" else None
    more = [own, *reader_notes(payload.highlights)]
    return project(facts, text, more=more, properties=payload.properties)


def segments(payload: PdfPayload) -> Iterable[Segment]:
    yield from payload.flow
    yield from tail_segments(payload)
