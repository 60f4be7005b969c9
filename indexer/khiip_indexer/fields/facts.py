"""What a note's properties can be filtered by, as Obsidian shows them; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from khiip_indexer.fields.memory import one_of
from khiip_indexer.fields.mentions import texts
from khiip_indexer.fields.metadata import Meta, normal_key, unwrap_wikilinks, wikilink_parts
from khiip_indexer.types import Value

KINDS = ("person", "company", "project", "concept", "file")
# A value that is longer is a text, which the search for texts finds.
MAX_VALUE_CHARS = 200
MAX_FACTS = 300


def kind_of(meta: Meta) -> str | None:
    """Return what kind of entity the note itself is; None when it does not say."""
    return one_of(meta, KINDS, "kind", "type")


def property_facts(metadata: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
    """Return (key, value) of every property, keys as they are compared.

    A list gives one pair for each of its values, a link its target and what it shows; a property
    without a value, or with a long one, gives the value "".
    """
    found: dict[tuple[str, str], None] = {}
    for key, value in metadata.items():
        name = normal_key(key)
        if name:
            found[name, ""] = None
            found.update(((name, text), None) for text in _values(value))
        if len(found) >= MAX_FACTS:
            break
    return tuple(found)[:MAX_FACTS]


def _values(value: Value) -> Iterator[str]:
    for text in texts(value):
        if len(text) <= MAX_VALUE_CHARS:
            shown, (target, _) = unwrap_wikilinks(text).strip(), wikilink_parts(text)
            yield from (part for part in (shown, "" if "[[" in target else target) if part)
