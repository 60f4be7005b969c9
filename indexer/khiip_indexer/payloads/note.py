"""`note`: what people write themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from khiip_indexer.payloads.build import extras, finish
from khiip_indexer.payloads.common import (
    NEVER,
    Extras,
    Facts,
    HeadingItem,
    LinkItem,
    Material,
    TaskItem,
)
from khiip_indexer.payloads.flow import body_text, heading_items
from khiip_indexer.payloads.project import project, tail_segments, topics
from khiip_indexer.types import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePayload(Extras):
    """A note of the vault: its text and its structure.

    `body_tags` are the tags written in the text, which `body_text` may be without.
    """

    kind: str = "note"
    title: str
    aliases: tuple[str, ...]
    headings: tuple[HeadingItem, ...]
    body_text: str
    tasks: tuple[TaskItem, ...]
    links: tuple[LinkItem, ...]
    fields: dict[str, str | list[str]]
    body_tags: tuple[str, ...] = field(default=(), metadata=NEVER)


def build(material: Material) -> NotePayload:
    """Return the payload of a note."""
    payload = NotePayload(
        title=material.title,
        aliases=material.aliases,
        headings=heading_items(material.body),
        body_text=body_text(material.body, material.title),
        description=material.description,
        body_tags=material.body.tags,
        **extras(material),
    )
    return finish(payload, material)


def primary_text(payload: NotePayload) -> tuple[str, str]:
    return payload.body_text, "body_text"


def embed_text(payload: NotePayload, facts: Facts) -> str:
    more = [", ".join(payload.aliases), topics(payload.body_tags, facts.title, payload.body_text)]
    return project(facts, payload.body_text, properties=payload.properties, more=more)


def segments(payload: NotePayload) -> Iterable[Segment]:
    yield from payload.flow
    yield from tail_segments(payload)
