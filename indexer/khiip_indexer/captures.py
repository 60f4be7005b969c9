"""A note's bytes as a capture: the contract's table, with what a known shape knows better; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

from khiip_indexer.dating import times
from khiip_indexer.fields import memory
from khiip_indexer.fields.checks import PLACEHOLDER
from khiip_indexer.fields.facts import kind_of, property_facts
from khiip_indexer.fields.forms import form_of
from khiip_indexer.fields.ids import derived_id
from khiip_indexer.fields.mentions import entities
from khiip_indexer.fields.metadata import Meta, unwrap_wikilinks, wikilink_parts
from khiip_indexer.fields.named_ids import declared_id, unusable_id
from khiip_indexer.fields.properties import (
    AUTHOR_KEYS,
    DESCRIPTION_KEYS,
    TAG_KEYS,
    properties,
)
from khiip_indexer.fields.sources import (
    as_url,
    host_of,
    obsidian_url,
    source_named,
    source_of,
    thread_of,
)
from khiip_indexer.fields.unread_values import unreadable_values
from khiip_indexer.fields.written_dates import unreadable_date
from khiip_indexer.frontmatter import read_frontmatter
from khiip_indexer.markdown import parse_markdown, to_plain
from khiip_indexer.payloads import build
from khiip_indexer.payloads.common import Material
from khiip_indexer.payloads.flow import without_tag_lines
from khiip_indexer.payloads.lift import lift
from khiip_indexer.shapes import Doc, Reading, recognise
from khiip_indexer.shapes.base import names
from khiip_indexer.types import (
    Body,
    Capture,
    Frontmatter,
    NoteFile,
    Pointer,
    Problem,
    Source,
)

NO_AUTHORS = frozenset(
    {"contributors to wikimedia projects", "wikipedia", "unknown", "your uploads"}
)
_TEMPLATE = re.compile(r"\{\{|<%")


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A note as read so far: what the fields of its capture are taken from."""

    note: NoteFile
    front: Frontmatter
    meta: Meta
    reading: Reading
    source: Source
    url: str | None
    authors: tuple[str, ...]
    body: Body
    markdown: str
    problems: tuple[Problem, ...]


def read_capture(note: NoteFile, vault_name: str) -> Capture:
    """Return the capture of a note with its problems; whatever the bytes, it never raises."""
    sheet = _read(note)
    title, from_stem = _title(sheet)
    material = _material(sheet, title)
    return Capture(
        path=note.path,
        declared_id=declared_id(sheet.meta),
        derived_id=derived_id(note.path),
        url=sheet.url or obsidian_url(vault_name, note.path),
        source=sheet.source,
        title=title,
        author=", ".join(sheet.authors) or None,
        description=material.description,
        **times(sheet.note, sheet.meta, sheet.reading),
        archived=sheet.meta.flag("archived") is True,
        superseded_by=next(_pointers(sheet.meta, "superseded_by"), None),
        supersedes=tuple(_pointers(sheet.meta, "supersedes")),
        user_tags=material.tags,
        entities=_entities(sheet),
        aliases=material.aliases,
        **_memory(sheet),
        payload=build(sheet.source, material),
        host=host_of(sheet.url),
        extraction_status="partial" if _failed(sheet) else "success",
        frontmatter_state=sheet.front.state,
        problems=sheet.problems,
        title_from_stem=from_stem,
        properties=property_facts(sheet.front.metadata),
        kind=kind_of(sheet.meta),
        form=form_of(note.path, sheet.markdown, _inner_links(sheet.body), sheet.problems),
    )


def _read(note: NoteFile) -> _Sheet:
    front = read_frontmatter(note.raw, note.path)
    meta = Meta(front.metadata)
    doc = Doc(note.path, front, meta)
    problems = list(front.problems)
    # A template's placeholders would be taken for the title, URL and date of a page.
    template = any(problem.code == "template" for problem in problems)
    reading = Reading(source="note") if template else _read_shape(doc, problems)
    problems += [] if template else unreadable_date(front, meta, note.path)
    problems += [] if template else unreadable_values(front, meta, note.path)
    problems += unusable_id(front, meta, note.path)
    source, url = _place(doc, reading)
    authors = _authors(meta, reading)
    reading = lift(source, reading, front.body, front.body_line, authors[0] if authors else None)
    markdown = front.body if reading.body is None else reading.body
    body = parse_markdown(markdown, front.body_line)
    return _Sheet(
        note=note,
        front=front,
        meta=meta,
        reading=reading,
        source=source,
        url=url,
        authors=authors,
        body=without_tag_lines(body) if _own_tags(source, reading) else body,
        markdown=markdown,
        problems=tuple(problems),
    )


def _inner_links(body: Body) -> int:
    return sum(not link.external for link in body.links)


def _own_tags(source: Source, reading: Reading) -> bool:
    """Say whether the body's `#tags` are the user's: a clip's are another person's."""
    clipped = reading.clipped or source in ("x", "youtube", "reddit")
    return reading.tags is None and not clipped


def _failed(sheet: _Sheet) -> bool:
    """Say whether something promised could not be read: frontmatter, or the note's form."""
    return sheet.front.state == "malformed" or any(p.code == "shape" for p in sheet.problems)


def _read_shape(doc: Doc, problems: list[Problem]) -> Reading:
    """Let the note's shape read it; a reader that fails costs its refinements, not the note."""
    try:
        shape = recognise(doc)
        return shape.read(doc) if shape else Reading()
    except Exception as error:  # noqa: BLE001 - a note of an unforeseen form must stay findable
        reason = f"the note's form could not be read ({type(error).__name__}: {error})"
        hint = "It is indexed as an ordinary note; please report its form."
        problems.append(Problem(doc.path, "shape", reason[:300], hint=hint))
        return Reading()


def _place(doc: Doc, reading: Reading) -> tuple[Source, str | None]:
    """Return (source, URL): a source that the note names wins over what its URL says."""
    url = reading.url or doc.url
    named = source_named(doc.meta.text("source"))
    if named or reading.source:
        return named or reading.source or "note", url
    return "pdf" if _names_pdf(doc.meta) else source_of(url), url


def _names_pdf(meta: Meta) -> bool:
    """Say whether the source is a PDF of the vault: `[[paper.pdf]]`."""
    written = meta.text("source", "url") or ""
    return "[[" in written and wikilink_parts(written)[0].lower().endswith(".pdf")


def _authors(meta: Meta, reading: Reading) -> tuple[str, ...]:
    written = reading.authors if reading.authors is not None else names(*meta.texts(*AUTHOR_KEYS))
    known = (name for name in written if not PLACEHOLDER.search(name))
    return tuple(name for name in known if name.lower() not in NO_AUTHORS)


def _title(sheet: _Sheet) -> tuple[str, bool]:
    """Return (title, whether it is the file's name)."""
    written = _written_title(sheet)
    if written and not _TEMPLATE.search(written):
        return written, False
    first = _title_heading(sheet.body)
    if first and not _TEMPLATE.search(first):
        return first, False
    name = sheet.note.path.rsplit("/", 1)[-1]
    return (name[:-3] if name.lower().endswith(".md") else name), True


def _written_title(sheet: _Sheet) -> str | None:
    """Return the title on one line: a property as it is written, for Obsidian shows no markup
    in properties and `__init__.py` means itself; what a shape took from a body without markup."""
    found, written = sheet.reading.title, sheet.meta.text("title")
    if found and found != written:
        return " ".join(to_plain(unwrap_wikilinks(found)).split()) or found.strip()
    return " ".join(unwrap_wikilinks(written).split()) if written else None


def _title_heading(body: Body) -> str | None:
    """Return the first level-1 heading.

    Several of them behind a lower heading are sections of a page, and none is its title.
    """
    filled = [heading for heading in body.headings if heading.text.strip()]
    tops = [heading for heading in filled if heading.level == 1]
    if not tops or (len(tops) > 1 and tops[0] is not filled[0]):
        return None
    return tops[0].text.strip()


def _description(meta: Meta, reading: Reading) -> str | None:
    written = reading.description or meta.text(*DESCRIPTION_KEYS)
    return to_plain(unwrap_wikilinks(written)).strip() or None if written else None


def _tags(sheet: _Sheet) -> tuple[str, ...]:
    reading = sheet.reading
    if reading.tags is not None:
        found = list(reading.tags)
    else:
        body_tags = sheet.body.tags if _own_tags(sheet.source, reading) else ()
        found = [*sheet.meta.tags(*TAG_KEYS), *body_tags]
    unique: dict[str, str] = {}
    for tag in (*found, *reading.extra_tags):
        if not PLACEHOLDER.search(tag):
            unique.setdefault(tag.casefold(), tag)
    return tuple(unique.values())


def _material(sheet: _Sheet, title: str) -> Material:
    meta = sheet.meta
    source = meta.text("source")
    label = source if source and not as_url(source) and not source_named(source) else None
    return Material(
        title=title,
        url=sheet.url,
        authors=sheet.authors,
        description=_description(meta, sheet.reading),
        tags=_tags(sheet),
        aliases=tuple(meta.tags("aliases", "alias")),
        source_label=unwrap_wikilinks(label) if label else None,
        published=meta.text("published", "date published"),
        properties=properties(sheet.front),
        meta=meta,
        reading=sheet.reading,
        body=sheet.body,
        markdown=sheet.markdown,
        first_line=sheet.front.body_line,
    )


class _Memory(TypedDict):
    """What a capture is to its reader's memory."""

    layer: str | None
    altitude: str | None
    mem_type: str | None
    mem_state: str | None
    thread_id: str | None
    importance: float | None
    pinned: bool


def _memory(sheet: _Sheet) -> _Memory:
    meta, reading = sheet.meta, sheet.reading
    state = memory.one_of(meta, memory.MEM_STATES, "mem_state", "state", "status")
    thread, _ = wikilink_parts(meta.text("thread_id", "thread") or "")
    importance = memory.importance(meta)
    return {
        "layer": memory.layer(meta) or reading.layer,
        "altitude": memory.one_of(meta, memory.ALTITUDES, "altitude"),
        "mem_type": memory.one_of(meta, memory.MEM_TYPES, "mem_type", "type"),
        "mem_state": state or reading.mem_state,
        "thread_id": thread or reading.thread_id or thread_of(sheet.url),
        "importance": reading.importance if importance is None else importance,
        "pinned": meta.flag("pinned") is True,
    }


def _entities(sheet: _Sheet) -> tuple[str, ...]:
    related = sheet.reading.extras.get("relations", ())
    more = (*sheet.reading.entities, *(relation.target for relation in related))
    authors = NO_AUTHORS - {"unknown"}
    return entities(sheet.meta, sheet.front.metadata, sheet.body, more, authors)


def _pointers(meta: Meta, key: str) -> Iterator[Pointer]:
    return (Pointer(wikilink_parts(text)[0]) for text in meta.texts(key))
