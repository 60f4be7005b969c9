"""Pages of Wikipedia, whoever clipped them."""

from __future__ import annotations

import re

from khiip_indexer.fields.sources import source_of
from khiip_indexer.payloads.wiki import page_title
from khiip_indexer.shapes.base import Doc, Reading, Shape, names

_SITE_AUTHOR = re.compile(r"^(?:contributors to wikimedia projects|wikipedia\b.*)$", re.IGNORECASE)


def matches(doc: Doc) -> bool:
    url = doc.url
    return bool(url) and source_of(url) == "wiki"


def read(doc: Doc) -> Reading:
    """`published` is the day on which the page was first created: the text is much younger."""
    authors = names(*doc.meta.texts("author", "authors"))
    title = doc.meta.text("title")
    return Reading(
        title=page_title(title) if title else None,
        authors=tuple(name for name in authors if not _SITE_AUTHOR.match(name)),
        published_is_not_validity=True,
        clipped=True,
    )


SHAPE = Shape("wikipedia", matches, read)
