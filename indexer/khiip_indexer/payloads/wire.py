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


@cache
def layout(cls: type[DataclassInstance]) -> tuple[tuple[str, str], ...]:
    """Return (name, when) of a class's sent fields: its own first, inherited ones after.

    `when` is `always` or `filled`.
    """
    found = {f.name: f.metadata.get("when", "always") for f in fields(cls)}
    own = [name for name in get_annotations(cls) if name in found]
    names = own + [name for name in found if name not in own]
    return tuple((name, found[name]) for name in names if found[name] != "never")


def payload_json(payload: Payload) -> str:
    """Return the payload's JSON exactly as the full view sends it; always valid UTF-8."""
    return scrub(json.dumps(payload, default=_sent, ensure_ascii=False, separators=(",", ":")))


def _sent(part: object) -> dict[str, object]:
    """Return what is sent of a payload or of a part of one; `json` asks for what is in it."""
    if not is_dataclass(part) or isinstance(part, type):
        raise TypeError(f"a payload holds a {type(part).__name__}, which JSON has no word for")
    values = ((name, when, getattr(part, name)) for name, when in layout(type(part)))
    return {name: _short(value) for name, when, value in values if _is_sent(when, value)}


def _is_sent(when: str, value: object) -> bool:
    """Say whether a field is sent; a zero is something (0 points, second 0)."""
    empty = value is None or value is False or (isinstance(value, Sized) and not len(value))
    return when == "always" or not empty


def _short(value: object) -> object:
    """Return whole seconds without their `.0`."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def scrub(text: str) -> str:
    """Replace lone surrogates, which no encoder takes, by U+FFFD; join split pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
