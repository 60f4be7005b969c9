"""Memories that agents write as notes: node maps in the frontmatter, entities with observations."""

from __future__ import annotations

import re

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.payloads.common import Observation, Relation
from khiip_indexer.payloads.lines import item, plain, section
from khiip_indexer.shapes.base import Doc, Reading, Shape, nested

_TYPED_LINK = re.compile(r"\[\[([^\[\]\n:|]{1,120})::([^\[\]\n|]{1,200})(?:\|[^\[\]\n]*)?\]\]")


def matches(doc: Doc) -> bool:
    if (doc.meta.text("node_type") or "").lower() == "memory":
        return True
    return (nested(doc.meta, "metadata").text("node_type") or "").lower() == "memory"


def read(doc: Doc) -> Reading:
    """The name is the id that other memories link to; the description is the best summary."""
    meta = doc.meta
    inner = nested(meta, "metadata")
    node = inner if inner.text("node_type") else meta
    modified = parse_date(node.text("modified") or "")
    return Reading(
        source="note",
        title=meta.text("title", "name"),
        description=meta.text("description"),
        layer=(node.text("type") or "").lower() or None,
        thread_id=node.text("originSessionId"),
        recorded_at=modified.replace(microsecond=0) if modified else None,
    )


def matches_entity(doc: Doc) -> bool:
    """Say whether a memory server wrote the note: it names the type of an entity."""
    return "entityType" in doc.meta


def read_entity(doc: Doc) -> Reading:
    """`[[Manager of::Alice]]` is a relation: neither a page of that name nor an inline field."""
    lines = doc.lines
    part = section(lines, "Observations")
    bullets = [item(line) for line in (lines[part.start : part.end] if part else [])]
    observations = tuple(Observation(category="note", text=plain(b[1])) for b in bullets if b)
    relations = tuple(
        Relation(type=kind.strip(), target=target.strip())
        for kind, target in _TYPED_LINK.findall(doc.text)
    )
    title = doc.meta.text("title", "name") or doc.stem
    return Reading(
        source="note",
        entities=(title, *(relation.target for relation in relations)),
        body=_TYPED_LINK.sub(r"\1 \2", doc.text),
        extras={"observations": observations, "relations": relations},
    )


SHAPE = Shape("agent-memory", matches, read)
ENTITY = Shape("memory-entity", matches_entity, read_entity)
