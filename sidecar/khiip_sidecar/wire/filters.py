"""Parsed parameters as the filters of a search; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
