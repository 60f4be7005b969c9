"""`note`: what people write themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from khiip_indexer.payloads.build import extras, finish
from khiip_indexer.payloads.common import Extras, Facts, HeadingItem, LinkItem, Material, TaskItem
from khiip_indexer.payloads.flow import heading_items
from khiip_indexer.payloads.project import project, tail_segments
from khiip_indexer.types import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePayload(Extras):
    """A note of the vault: its text and its structure."""

    kind: str = "note"
    title: str
    aliases: tuple[str, ...]
    headings: tuple[HeadingItem, ...]
    body_text: str
    tasks: tuple[TaskItem, ...]
    links: tuple[LinkItem, ...]
    fields: dict[str, str | list[str]]


def build(material: Material) -> NotePayload:
    """Return the payload of a note."""
    payload = NotePayload(
        title=material.title,
        aliases=material.aliases,
        headings=heading_items(material.body),
        body_text=material.body.text,
        description=material.description,
        **extras(material),
    )
    return finish(payload, material)


def primary_text(payload: NotePayload) -> tuple[str, str]:
    return payload.body_text, "body_text"


def embed_text(payload: NotePayload, facts: Facts) -> str:
    aliases = ", ".join(payload.aliases)
    more = [aliases] if aliases else []
    return project(facts, payload.body_text, properties=payload.properties, more=more)


def segments(payload: NotePayload) -> Iterable[Segment]:
    yield from payload.flow
    yield from tail_segments(payload)
