"""The parts of a payload that do not depend on its source; pure."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from khiip_indexer.payloads.common import Engagement, Extras, Material
from khiip_indexer.payloads.flow import (
    callout_items,
    field_items,
    flow,
    link_items,
    marks,
    task_items,
)
from khiip_indexer.payloads.lines import number

P = TypeVar("P", bound=Extras)


def extras(material: Material) -> dict[str, Any]:
    """Return the fields that every payload may hold, read from the body."""
    body, reading = material.body, material.reading
    related = [relation.target for relation in reading.extras.get("relations", ())]
    return {
        "source_label": material.source_label,
        "highlights": reading.highlights or marks(body),
        "comments": reading.comments or (),
        "tasks": task_items(body, reading.lanes),
        "links": link_items(body, related),
        "fields": field_items(body),
        "callouts": callout_items(body),
        "block_ids": body.block_ids,
        "properties": material.properties,
        "flow": flow(body),
    }


def finish(payload: P, material: Material) -> P:
    """Return the payload with what the shape read by field name."""
    names = {f.name for f in fields(payload)}
    read = {name: value for name, value in material.reading.extras.items() if name in names}
    return replace(payload, **read) if read else payload


def engagement(material: Material) -> Engagement | None:
    """Return the counts that the note's frontmatter has, None when it has none."""
    meta = material.meta
    counts = {
        "likes": number(meta.text("likes", "like_count", "favorites")),
        "net_score": number(meta.text("score", "upvotes", "net_score")),
        "shares": number(meta.text("retweets", "shares", "reposts")),
        "comments": number(meta.text("replies", "num_comments", "comment_count", "comments")),
        "views": number(meta.text("views", "view_count")),
        "saves": number(meta.text("saves", "bookmarks")),
    }
    return Engagement(**counts) if any(v is not None for v in counts.values()) else None
