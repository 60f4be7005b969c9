"""Parsed parameters as the filters of a search; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from khiip_indexer.errors import UsageError
from khiip_indexer.fields.entity_names import entity_key
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
        entities=tuple(map(entity_key, said["entity_name"])),
        not_entities=tuple(map(entity_key, said["-entity_name"])),
        properties=tuple(map(_property, said["property"])),
        not_properties=tuple(map(_property, said["-property"])),
    )


# Parameters that are filters as they were read.
_LISTS = {
    "source": "sources",
    "tag": "tags",
    "folder": "folders",
    "author": "authors",
    "layer": "layers",
    "altitude": "altitudes",
    "mem_type": "mem_types",
    "mem_state": "mem_states",
    "thread_id": "threads",
    "band": "bands",
    "in_path": "path_has",
    "file": "file_has",
    "phrase": "phrases",
}


def _property(text: str) -> tuple[str, str | None]:
    """`key:value`, or `key` for any value."""
    key, _, value = text.partition(":")
    return (key, value.strip() or None) if key.strip() else (text, None)


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
