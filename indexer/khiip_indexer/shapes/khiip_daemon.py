"""Notes written by the Khiip daemon: `captures/{source}/{ULID}-{slug}.md`."""

from __future__ import annotations

import re

from khiip_indexer.fields.sources import source_named
from khiip_indexer.shapes.base import Doc, Reading, Shape, names

_ULID = re.compile(r"^[0-7][0-9A-HJKMNP-TV-Z]{25}$", re.IGNORECASE)


def matches(doc: Doc) -> bool:
    meta = doc.meta
    if not meta.text("schema_version"):
        return False
    dated = meta.text("recorded_at") and meta.text("valid_from")
    return bool(dated) and bool(_ULID.match(meta.text("id") or ""))


def read(doc: Doc) -> Reading:
    """Its extractor joins several authors of a page with `;`."""
    author = doc.meta.text("author")
    kind = source_named(doc.meta.text("source"))
    parts = author.split(";") if author and kind == "web" else [author]
    return Reading(clipped=True, authors=names(*parts))


SHAPE = Shape("khiip", matches, read)
