"""What captures can be filtered by: a row of `facets` for each of its tags, authors, names, …

Kinds: `tag`, `author`, `entity` and `name` (entity keys: what a note is about, and what it is
called), `kind`, `layer`, `altitude`, `mem_type`, `mem_state`, `thread`, `prop` (`key=value`, and
`key=` for one without a value), `path` and `file` (the file's name). `form` is for ranking.
"""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator

from khiip_indexer.fields.entity_names import entity_key
from khiip_indexer.fields.metadata import normal_key
from khiip_indexer.types import Capture

Facet = tuple[str, str]

_MEMORY = (
    ("kind", "kind"),
    ("layer", "layer"),
    ("altitude", "altitude"),
    ("mem_type", "mem_type"),
    ("mem_state", "mem_state"),
    ("thread", "thread_id"),
)


def put_facets(connection: sqlite3.Connection, row: int, capture: Capture) -> None:
    """Write what a capture can be filtered by, in place of what was there; what is equal stays."""
    wanted = {(kind, value) for kind, value in facets_of(capture) if value}
    known = set(connection.execute("SELECT kind, value FROM facets WHERE row = ?", (row,)))
    connection.executemany(
        "DELETE FROM facets WHERE kind = ? AND value = ? AND row = ?",
        [(*facet, row) for facet in known - wanted],
    )
    connection.executemany(
        "INSERT INTO facets (kind, value, row) VALUES (?, ?, ?)",
        [(*facet, row) for facet in wanted - known],
    )


def facets_of(capture: Capture) -> Iterator[Facet]:
    """Everything that a capture can be filtered by; some of it may come twice, or be empty."""
    path = folded(capture.path)
    file = path.rpartition("/")[2]
    yield from (("tag", folded_tag(tag)) for tag in capture.user_tags)
    yield from (("author", folded_author(name)) for name in _authors(capture.author or ""))
    yield from (("entity", entity_key(entity)) for entity in capture.entities)
    yield from (("name", entity_key(name)) for name in _names(capture))
    yield from ((kind, getattr(capture, field) or "") for kind, field in _MEMORY)
    yield from _properties(capture.properties)
    yield "form", capture.form or ""
    yield "path", path
    yield "file", file


def _authors(written: str) -> Iterator[str]:
    """All of it, as it may be one name; the names between semicolons; those between commas."""
    yield written
    for name in written.split(";"):
        yield name
        yield from name.split(",")


def _names(capture: Capture) -> tuple[str, ...]:
    """What a note is called: its file, its title, its aliases."""
    stem = capture.path.rpartition("/")[2].removesuffix(".md")
    return (stem, capture.title, *capture.aliases)


def _properties(properties: Iterable[tuple[str, str]]) -> Iterator[Facet]:
    pairs = list(properties)
    filled = {key for key, value in pairs if value}
    for key, value in pairs:
        if value or key not in filled:
            yield "prop", property_value(key, value)


def folded(text: str) -> str:
    """A text without regard to case, and to how its accents are encoded."""
    if text.isascii():
        return text.lower()
    composed = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", composed)


def folded_tag(tag: str) -> str:
    """A tag as it is stored, with or without its mark."""
    return folded(tag).strip().lstrip("#").strip("/")


def folded_author(author: str) -> str:
    """An author's name as it is stored, with or without the mark of a handle."""
    return folded(author).strip().lstrip("@")


def property_key(key: str) -> str:
    """A property's name as it is stored, with the sign that ends it."""
    return f"{folded(normal_key(key))}="


def property_value(key: str, value: str) -> str:
    """A property with a value as it is stored."""
    return property_key(key) + " ".join(folded(value).split())
