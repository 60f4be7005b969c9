"""Payloads as JSON: field names are wire names; pure."""

from __future__ import annotations

import json
from collections.abc import Sized
from dataclasses import fields, is_dataclass
from functools import cache
from inspect import get_annotations
from typing import TYPE_CHECKING

from khiip_indexer.types import Payload

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@cache
def layout(cls: type[DataclassInstance]) -> tuple[tuple[str, str], ...]:
    """Return (name, when) of a class's sent fields: its own first, inherited ones after.

    `when` is `always` or `filled`.
    """
    found = {f.name: f.metadata.get("when", "always") for f in fields(cls)}
    own = [name for name in get_annotations(cls) if name in found]
    names = own + [name for name in found if name not in own]
    return tuple((name, found[name]) for name in names if found[name] != "never")


def _empty(value: object) -> bool:
    """Say whether a value holds nothing; a zero is something (0 points, second 0)."""
    return value is None or value is False or (isinstance(value, Sized) and not len(value))


def to_wire(value: object) -> Json:
    """Return a payload, or a part of one, as what `json` can write."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = ((name, when, getattr(value, name)) for name, when in layout(type(value)))
        return {
            name: to_wire(part)
            for name, when, part in parts
            if when == "always" or not _empty(part)
        }
    if isinstance(value, tuple | list):
        return [to_wire(part) for part in value]
    if isinstance(value, dict):
        return {str(key): to_wire(part) for key, part in value.items()}
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a payload holds a {type(value).__name__}, which JSON has no word for")


def payload_json(payload: Payload) -> str:
    """Return the payload's JSON exactly as the full view sends it; always valid UTF-8."""
    text = json.dumps(to_wire(payload), ensure_ascii=False, separators=(",", ":"))
    return scrub(text)


def scrub(text: str) -> str:
    """Replace lone surrogates, which no encoder takes, by U+FFFD; join split pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
