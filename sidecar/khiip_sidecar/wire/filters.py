"""Parsed parameters as the filters of a search; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from khiip_indexer.errors import UsageError
from khiip_indexer.fields.entity_names import entity_key
from khiip_indexer.fields.metadata import wikilink_parts
from khiip_indexer.records import Filters

Values = Mapping[str, Any]


def filters_of(said: Values) -> Filters:
    """The filters that parsed parameters name."""
    return Filters(
        since=said["since"],
        until=said["until"],
        include_archived=said["include_archived"],
        **{field: said[name] for name, field in _LISTS.items()},
        **{f"not_{field}": said[f"-{name}"] for name, field in _LISTS.items()},
        authors=_names(said["author"]),
        not_authors=_names(said["-author"]),
        threads=_names(said["thread_id"]),
        not_threads=_names(said["-thread_id"]),
        entities=tuple(map(_entity, said["entity_name"])),
        not_entities=tuple(map(_entity, said["-entity_name"])),
        properties=_properties(said["property"]),
        not_properties=_properties(said["-property"]),
    )


# Parameters that are filters as they were read.
_LISTS = {
    "source": "sources",
    "tag": "tags",
    "folder": "folders",
    "layer": "layers",
    "altitude": "altitudes",
    "mem_type": "mem_types",
    "mem_state": "mem_states",
    "band": "bands",
    "in_path": "path_has",
    "file": "file_has",
    "phrase": "phrases",
}


# A name may be given as it stands in a note, `[[Ada Lovelace|Ada]]`; the index has it unwrapped.


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for text in texts for part in wikilink_parts(text)))


def _entity(text: str) -> str:
    return entity_key(wikilink_parts(text)[0])


def _properties(texts: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    return tuple(dict.fromkeys(pair for text in texts for pair in _property(text)))


def _property(text: str) -> Iterator[tuple[str, str | None]]:
    """`key:value`, or `key` for any value."""
    key, _, value = text.partition(":")
    if not key.strip():
        yield text, None
        return
    for part in wikilink_parts(value):
        yield key, part or None


def is_filtered(said: Values) -> bool:
    """Whether any filter was given; that archived captures count too chooses none by itself."""
    plain = {**said, "include_archived": False}
    return filters_of(plain) != Filters()


def check_mode(said: Values) -> None:
    """Refuse beside a query or a path what only an overview can act on.

    It would be passed over, and its absence from the answer would look like a result. Raises
    UsageError.
    """
    beside = next((name for name in ("query", "path") if said[name] is not None), None)
    if beside is None:
        return
    if said["kind"] is not None:
        raise _only_in_overview("kind", beside)
    if (said["min_memories"] or 1) > 1:  # one note is what every entity has
        raise _only_in_overview("min_memories", beside)


def _only_in_overview(name: str, beside: str) -> UsageError:
    return UsageError(
        f"`{name}` belongs to the overview of entities; beside a {beside} it has no meaning.",
        hint=f"Leave {beside} out for the overview, or narrow the search with `entity_name`.",
    )
