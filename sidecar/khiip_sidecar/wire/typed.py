"""JSON Schemas of typed payloads, read from the classes that hold them; pure."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import reduce
from operator import or_
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

from khiip_indexer.payloads import (
    NotePayload,
    PdfPayload,
    RedditPayload,
    WebPayload,
    WikiPayload,
    XPayload,
    YouTubePayload,
)
from khiip_indexer.payloads.wire import layout
from khiip_sidecar.wire.encode import Json

PAYLOADS: tuple[type, ...] = (
    XPayload,
    RedditPayload,
    WebPayload,
    WikiPayload,
    YouTubePayload,
    PdfPayload,
    NotePayload,
)
WORDS = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def payload_schemas() -> dict[str, Json]:
    """The schema of every payload and of every class inside one, by name."""
    found: dict[str, Json] = {}
    for payload in PAYLOADS:
        _add(payload, found)
    return dict(sorted(found.items()))


def reference(name: str) -> Json:
    """A pointer to a named schema of the description."""
    return {"$ref": f"#/components/schemas/{name}"}


def _add(cls: type, found: dict[str, Json]) -> None:
    if cls.__name__ in found:
        return
    found[cls.__name__] = {}  # a class may hold others of its own kind
    hints = get_type_hints(cls)
    sent = layout(cls)
    found[cls.__name__] = {
        "type": "object",
        "properties": {
            name: _part(cls, name, _filled(hints[name], when), found) for name, when in sent
        },
        "required": [name for name, when in sent if when == "always"],
    }


def _part(cls: type, name: str, hint: object, found: dict[str, Json]) -> Json:
    if name == "kind" and cls in PAYLOADS:
        [default] = [each.default for each in fields(cls) if each.name == "kind"]
        return {"const": default}
    return schema_of(hint, found)


def _filled(hint: object, when: str) -> object:
    """A field that is sent only when it holds something is never null."""
    if when == "filled" and get_origin(hint) in (Union, UnionType):
        left = [each for each in get_args(hint) if each is not NoneType]
        return reduce(or_, left)
    return hint


def schema_of(hint: object, found: dict[str, Json]) -> Json:
    """The schema of a type; classes inside it are added to `found` by name."""
    origin, parts = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and hint in WORDS:
        return {"type": WORDS[hint]}
    if is_dataclass(hint) and isinstance(hint, type):
        _add(hint, found)
        return reference(hint.__name__)
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (tuple, list):
        return {"type": "array", "items": schema_of(parts[0], found)}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(parts[1], found)}
    if origin in (Union, UnionType):
        return _any_of([schema_of(each, found) for each in parts])
    raise TypeError(f"there is no schema for {hint}")


def _any_of(schemas: list[Json]) -> Json:
    if all(set(each) == {"type"} for each in schemas):
        return {"type": [each["type"] for each in schemas]}
    return {"anyOf": schemas}
