"""JSON Schemas of what the tools take and give, from the tables of the wire; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from khiip_sidecar.wire import params as wire_params
from khiip_sidecar.wire.encode import Json
from khiip_sidecar.wire.params import Parameter
from khiip_sidecar.wire.schemas import FLAG, TEXT, TEXTS, WHOLE, many, perhaps, record, schemas

RECALL_TOKENS = 2000
LIST_ROWS = 20
PAGE_CHARS = 6000
MOST_PAGE_CHARS = 40_000

# What agents get defaults for that differ from the other faces.
RECALL_DEFAULTS = {
    "match": "hybrid",
    "rank": "composite",
    "max_tokens": str(RECALL_TOKENS),
    "mark_accessed": "true",
}
LIST_DEFAULTS = {"max_tokens": str(RECALL_TOKENS), "limit": str(LIST_ROWS)}
# Understood, and not told: what a query says in its own words, and the one view that there is.
UNTOLD = ("view", "in_path", "file", "property", "match_syntax")

_TYPES = {"whole": "integer", "number": "number", "flag": "boolean"}
_MAX_TOKENS = next(each for each in wire_params.RECALL if each.name == "max_tokens")

RECALL = wire_params.RECALL
LIST = (*wire_params.CAPTURES, _MAX_TOKENS)
CAPTURE = (
    Parameter("id", "text", "The capture's id, as recall and list_captures give it; or its path."),
    Parameter(
        "offset", "whole", "Characters to skip.", 0, least=0, most=wire_params.MAX_OFFSET * 1000
    ),
    Parameter("limit", "whole", "Characters to read.", PAGE_CHARS, least=1, most=MOST_PAGE_CHARS),
)


def input_schema(
    table: Sequence[Parameter], defaults: Mapping[str, str], required: Sequence[str] = ()
) -> Json:
    """The arguments of a tool; each has one simple type, and lists are written into a text."""
    told = [_settled(each, defaults) for each in table if each.name not in UNTOLD]
    schema: Json = {"type": "object", "properties": {each.name: _argument(each) for each in told}}
    if required:
        schema["required"] = list(required)
    return schema


def _settled(parameter: Parameter, defaults: Mapping[str, str]) -> Parameter:
    text = defaults.get(parameter.name)
    if text is None:
        return parameter
    if parameter.kind == "whole":
        return replace(parameter, default=int(text))
    return replace(parameter, default=text == "true" if parameter.kind == "flag" else text)


def _argument(parameter: Parameter) -> Json:
    schema: Json = {"type": _TYPES.get(parameter.kind, "string"), "description": _doc(parameter)}
    if parameter.many == "one":
        if parameter.choices:
            schema["enum"] = list(parameter.choices)
        if parameter.default is not None:
            schema["default"] = parameter.default
    for word, bound in (("minimum", parameter.least), ("maximum", parameter.most)):
        if bound is not None:
            schema[word] = bound
    return schema


def _doc(parameter: Parameter) -> str:
    said = parameter.doc
    if parameter.choices and parameter.many != "one":
        said += f" Of: {', '.join(parameter.choices)}."
    if parameter.many == "commas":
        said += " Several with commas."
    return said


_NOTES = {"notes": TEXTS}
_ONWARD = {
    "returned": WHOLE,
    "next_offset": perhaps(WHOLE),
    "how_to_go_on": TEXT,
    **_NOTES,
}


def inlined(schema: Json) -> Json:
    """A schema with every named one in its place: clients look nothing up elsewhere."""
    if reference := schema.get("$ref"):
        return inlined(schemas()[reference.rpartition("/")[2]])
    return {key: _inside(value) for key, value in schema.items()}


def _inside(value: object) -> object:
    if isinstance(value, dict):
        return inlined(value)
    return [_inside(each) for each in value] if isinstance(value, list) else value


def recall_output() -> Json:
    """A search, a history, or an overview: one object, told apart by what it holds."""
    named = schemas()
    hits = {"type": "array", "items": named["LeanHit"]}
    search, history, overview = (
        dict(named[name]["properties"]) for name in ("Search", "History", "Overview")
    )
    lists = {"results": hits, "related_memories": hits, "entities": many(named["Entity"])}
    cut = {"cut": {"type": "object", "additionalProperties": WHOLE}}
    properties = {**search, **history, **overview, **lists, **_ONWARD, **cut}
    shapes = [{"required": [name]} for name in ("results", "paths_matched", "entities")]
    return inlined({"type": "object", "properties": properties, "anyOf": shapes})


def list_output() -> Json:
    """A page of rows; `total` is null when there are more than were counted."""
    fields = {
        "captures": {"type": "array", "items": schemas()["LeanCapture"]},
        "returned": WHOLE,
        "offset": WHOLE,
        "total": perhaps(WHOLE),
        "has_more": FLAG,
        "next_offset": perhaps(WHOLE),
        "stopped_by": {"type": "string", "enum": ["tokens", "limit", "end"]},
        "approx_tokens": WHOLE,
    }
    return inlined(record(fields, {"how_to_go_on": TEXT, **_NOTES}))


def capture_output() -> Json:
    """One page of a capture's text."""
    fields = {
        "capture": {"type": "object", "required": ["id", "title", "vault_path"]},
        "text": TEXT,
        "offset": WHOLE,
        "returned_chars": WHOLE,
        "total_chars": WHOLE,
        "has_more": FLAG,
        "next_offset": perhaps(WHOLE),
    }
    return record(fields, {"how_to_go_on": TEXT, **_NOTES})
