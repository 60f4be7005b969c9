"""Citations plugin: `@citekey.md` with authors and year."""

from __future__ import annotations

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.shapes.base import Doc, Reading, Shape
from khiip_indexer.shapes.zotero import literature_authors, literature_url


def matches(doc: Doc) -> bool:
    meta = doc.meta
    return doc.stem.startswith("@") and bool(meta.text("authors", "author") and meta.text("year"))


def read(doc: Doc) -> Reading:
    """All that is written below the frontmatter is the reader's own."""
    return Reading(
        source="pdf",
        url=literature_url(doc),
        authors=literature_authors(doc),
        valid_from=parse_date(doc.meta.text("year") or ""),
        extras={
            "citekey": doc.stem.removeprefix("@"),
            "doi": doc.meta.text("doi"),
            "annotated": True,
        },
    )


SHAPE = Shape("citations", matches, read)
