"""Parameters as the description says them: the same tables that `parse` goes by; pure."""

from __future__ import annotations

from khiip_sidecar.wire.encode import Json
from khiip_sidecar.wire.params import MAX_TEXT, MAX_VALUES, Parameter
from khiip_sidecar.wire.times import PATTERNS


def parameter_view(parameter: Parameter, place: str) -> Json:
    """One parameter; `place` is `query` or `path`."""
    said: Json = {
        "name": parameter.name,
        "in": place,
        "description": _doc(parameter),
        "required": place == "path" or parameter.required,
        "schema": _schema(parameter),
    }
    if parameter.many != "one":
        # The service takes repeats for every list; commas only where values hold none.
        said |= {"style": "form", "explode": parameter.many == "repeat"}
    if parameter.aliases:
        said["x-aliases"] = list(parameter.aliases)
    return said


def _doc(parameter: Parameter) -> str:
    said = [parameter.doc]
    if parameter.negatable:
        said.append(f"Behind a `-` it is left out: `-{parameter.name}=…`, or `-` before the value.")
    if parameter.aliases:
        said.append(f"`{'`, `'.join(parameter.aliases)}` is the same.")
    return " ".join(said)


def _schema(parameter: Parameter) -> Json:
    schema = _single(parameter)
    if parameter.many != "one":
        return {"type": "array", "items": schema, "minItems": 1, "maxItems": MAX_VALUES}
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema


def _single(parameter: Parameter) -> Json:
    if parameter.choices:
        return {"type": "string", "enum": _choices(parameter)}
    if parameter.kind == "flag":
        return {"type": "boolean"}
    if parameter.kind in ("whole", "number"):
        return _bounded(parameter)
    if parameter.kind == "time":
        return _time()
    return {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_TEXT,
        "pattern": parameter.pattern,
    }


def _choices(parameter: Parameter) -> list[str]:
    known = [*parameter.choices, *(word for word, _ in parameter.words)]
    signs = ("", "-") if parameter.negatable else ("",)
    return list(dict.fromkeys(f"{sign}{choice}" for sign in signs for choice in known))


def _bounded(parameter: Parameter) -> Json:
    schema: Json = {"type": "integer" if parameter.kind == "whole" else "number"}
    for word, bound in (("minimum", parameter.least), ("maximum", parameter.most)):
        if bound is not None:
            schema[word] = bound
    return schema


def _time() -> Json:
    return {
        "anyOf": [
            {"type": "string", "format": "date"},
            {"type": "string", "format": "date-time"},
            *({"type": "string", "pattern": pattern} for pattern in PATTERNS),
        ]
    }
