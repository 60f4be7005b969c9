"""What agents send as arguments -> the texts of a request, read leniently; pure.

Clients send numbers and booleans as text, one text where several are meant, JSON written into a
text, nulls for what they leave out, and names of their own. All of it has one plain meaning.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from khiip_indexer.errors import UsageError
from khiip_sidecar.texts import shown
from khiip_sidecar.wire.params import MAX_TEXT, Parameter
from khiip_sidecar.wire.parse import read_value

MOST_UNKNOWN = 5
# What other memories and searches call the same.
OTHER_WORDS = {
    "q": "query",
    "text": "query",
    "search": "query",
    "search_query": "query",
    "question": "query",
    "k": "limit",
    "n": "limit",
    "top_k": "limit",
    "count": "limit",
    "max_results": "limit",
    "skip": "offset",
    "entity": "entity_name",
    "thread": "thread_id",
    "type": "mem_type",
    "state": "mem_state",
    "from": "since",
    "after": "since",
    "to": "until",
    "before": "until",
    "capture_id": "id",
    "uri": "id",
    "path": "id",
    "vault_path": "id",
    "max_chars": "limit",
    "file_path": "path",
}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ROUND = re.compile(r"([+-]?[0-9]{1,12})\.0+")
# Whole numbers have nothing to do with the time at which they are read.
_NO_TIME = datetime.fromtimestamp(0, UTC)
_NOTHING = ("null", "none", "undefined")


@dataclass(frozen=True, slots=True)
class Asked:
    """The texts of a request by parameter, and what the agent should know of how it was read."""

    table: Sequence[Parameter]
    params: dict[str, list[str]]
    notes: tuple[str, ...] = ()

    def default(self, name: str, value: str) -> str:
        """What was asked for a parameter, after it was settled where nothing was said."""
        return self.params.setdefault(name, [value])[0]

    def whole(self, name: str) -> int:
        """A whole number that a face itself must know, checked as the service checks it."""
        [parameter] = [each for each in self.table if each.name == name]
        texts = self.params.get(name)
        value = read_value(parameter, texts[0], _NO_TIME) if texts else parameter.default
        return value if isinstance(value, int) else 0


def read_arguments(table: Sequence[Parameter], arguments: Mapping[str, object] | None) -> Asked:
    """The request that the arguments of a tool call mean.

    An argument that no tool has is left out and told. Raises UsageError for a value that has no
    text, such as an object.
    """
    known = {each.name: each for each in table}
    params: dict[str, list[str]] = {}
    unknown: list[str] = []
    notes: list[str] = []
    for given, value in (arguments or {}).items():
        name, sign = _name(given, known)
        if name is None:
            unknown.append(given)
            continue
        texts = _texts(known[name], value)
        if name == "query" and isinstance(value, str) and not texts:
            # Some clients fill in every argument of a schema, so that this is no error as in REST.
            notes.append("`query` was empty and is left out.")
        if texts:
            params.setdefault(f"{sign}{name}", []).extend(texts)
    notes += [_not_known(given, known) for given in unknown[:MOST_UNKNOWN]]
    if len(unknown) > MOST_UNKNOWN:
        notes.append(f"{len(unknown) - MOST_UNKNOWN} more unknown arguments were left out.")
    return Asked(table, params, tuple(notes))


def _name(given: str, known: Mapping[str, Parameter]) -> tuple[str | None, str]:
    """(the parameter that a name means, `-` when it leaves out what it names)."""
    sign = "-" if given.startswith("-") else ""
    folded = _CAMEL.sub("_", given.removeprefix("-").strip()).replace("-", "_").lower()
    words = (folded, folded.removesuffix("s"), OTHER_WORDS.get(folded, ""))
    name = next((word for word in words if word in known), None)
    if sign and (name is None or not known[name].negatable):
        return None, ""
    return name, sign


def _not_known(given: str, known: Mapping[str, Parameter]) -> str:
    near = difflib.get_close_matches(given[:60].lower(), known, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else f". Known: {', '.join(sorted(known))}."
    return f"There is no argument `{shown(given)}`, it was left out{hint}"


def _texts(parameter: Parameter, value: object) -> list[str]:
    if isinstance(value, str):
        value = _unwrapped(parameter, value)
    if isinstance(value, list | tuple):
        return [text for each in value for text in _one(parameter, each)]
    return _one(parameter, value)


def _unwrapped(parameter: Parameter, text: str) -> object:
    """A list that was written into a text, where that cannot be meant as words to look for."""
    written = text.strip()
    if parameter.name == "query" or not written.startswith("["):
        return text
    try:
        value: object = json.loads(written)
    except (ValueError, RecursionError):
        return text
    # `[[2024]]` is a link, which only looks like a list in a list.
    is_plain = isinstance(value, list) and not any(isinstance(each, list) for each in value)
    return value if is_plain else text


def _one(parameter: Parameter, value: object) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, int | float):
        return [_number(value)]
    if not isinstance(value, str):
        raise UsageError(
            f"`{parameter.name}` must be a plain value; an object is not.", hint=parameter.doc
        )
    if len(value) > MAX_TEXT:  # before anybody looks into it
        raise UsageError(
            f"`{parameter.name}` is {len(value)} characters long.",
            hint=f"At most {MAX_TEXT} characters are allowed.",
            code="too_long",
        )
    text = value.strip()
    words = parameter.kind not in ("text", "path", "folder")
    if not text or (words and text.lower() in _NOTHING):
        return []
    if parameter.kind == "whole" and (match := _ROUND.fullmatch(text)):
        return [match[1]]
    return [value]


def _number(value: float) -> str:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e12
    return str(int(value)) if whole else repr(value)
