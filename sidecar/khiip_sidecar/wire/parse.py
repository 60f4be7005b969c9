"""Texts of a request -> typed values, by the tables of `wire_params`; pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from khiip_indexer.errors import Unsupported, UsageError
from khiip_sidecar.texts import clean_text, shown
from khiip_sidecar.wire.params import MAX_TEXT, MAX_VALUES, TAG, VISIBLE, Default, Parameter
from khiip_sidecar.wire.times import time_bound

Given = Mapping[str, Sequence[str]]
Value = Default | tuple[Default, ...]

_WHOLE = re.compile(r"[+-]?[0-9]{1,12}", re.ASCII)
# Whatever a program prints of a float, however close to zero.
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?", re.ASCII
)
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def parse(parameters: Sequence[Parameter], given: Given, now: datetime) -> dict[str, Any]:
    """Every parameter's value by name, defaults filled in; list parameters give tuples.

    Raises UsageError for an unknown name or a value that is not allowed, and Unsupported for
    one that this version cannot act on.
    """
    texts = _by_name(parameters, given)
    return {each.name: _value(each, texts.get(each.name, []), now) for each in parameters}


def _by_name(parameters: Sequence[Parameter], given: Given) -> dict[str, list[str]]:
    names = {alias: each.name for each in parameters for alias in (each.name, *each.aliases)}
    texts: dict[str, list[str]] = {}
    for name, values in given.items():
        if name not in names:
            raise _unknown(name, names)
        texts.setdefault(names[name], []).extend(values)
    return texts


def _unknown(name: str, names: Mapping[str, str]) -> UsageError:
    near = difflib.get_close_matches(name[:60], names, n=1, cutoff=0.5)
    listed = ", ".join(sorted(set(names.values())))
    hint = f"Did you mean `{near[0]}`? " if near else ""
    return UsageError(
        f"There is no parameter `{shown(name)}`.",
        hint=f"{hint}Known parameters: {listed}.",
        code="unknown_parameter",
    )


def _value(parameter: Parameter, texts: Sequence[str], now: datetime) -> Value:
    parts = _parts(parameter, texts)
    if not parts:
        return parameter.default if parameter.many == "one" else ()
    if parameter.many == "one" and len(set(parts)) > 1:
        raise UsageError(
            f"`{parameter.name}` was given more than once.", hint="Give one value for it."
        )
    if len(parts) > MAX_VALUES:
        raise UsageError(
            f"`{parameter.name}` has {len(parts)} values.",
            hint=f"At most {MAX_VALUES} values are allowed.",
        )
    values = [_read(parameter, part, now) for part in parts]
    _refuse_unserved(parameter, parts)
    return values[0] if parameter.many == "one" else tuple(dict.fromkeys(values))


def _parts(parameter: Parameter, texts: Sequence[str]) -> list[str]:
    if parameter.many != "commas":
        return list(texts)
    return [part.strip() for text in texts for part in text.split(",")]


def _refuse_unserved(parameter: Parameter, parts: Sequence[str]) -> None:
    if parameter.served is None:
        return
    for part in parts:
        if _folded(parameter, part) not in parameter.served:
            raise Unsupported(
                f"This version recalls by meaning only: "
                f"`{parameter.name}={shown(part)}` is not served.",
                hint=f"Leave `{parameter.name}` out.",
            )


def _folded(parameter: Parameter, text: str) -> str:
    if parameter.kind == "flag":
        return "true" if _FLAGS[text.strip().lower()] else "false"
    return text.strip().lower()


def _read(parameter: Parameter, text: str, now: datetime) -> Default:
    if len(text) > MAX_TEXT:
        raise UsageError(
            f"`{parameter.name}` is {len(text)} characters long.",
            hint=f"At most {MAX_TEXT} characters are allowed.",
            code="too_long",
        )
    if parameter.kind == "time":
        return time_bound(parameter.name, text, now, end=parameter.name == "until")
    return _READERS[parameter.kind](parameter, text)


def _read_text(parameter: Parameter, text: str) -> str:
    cleaned = clean_text(text)
    visible = TAG if parameter.name == "tag" else VISIBLE
    if parameter.name == "tag":  # written with its mark in a note, without it in the index
        cleaned = cleaned.strip().lstrip("#")
    if not re.search(visible, cleaned):
        code = "empty_query" if parameter.name == "query" else None
        raise UsageError(
            f"The {parameter.name} is empty.", hint="Give some text or leave it out.", code=code
        )
    return cleaned


def _read_whole(parameter: Parameter, text: str) -> int:
    if not _WHOLE.fullmatch(text.strip()):
        raise _not_allowed(parameter, text, "a whole number")
    return int(_in_range(parameter, int(text), text, "a whole number"))


def _read_number(parameter: Parameter, text: str) -> float:
    if not _NUMBER.fullmatch(text.strip()):
        raise _not_allowed(parameter, text, "a number")
    return _in_range(parameter, float(text), text, "a number")


def _in_range(parameter: Parameter, value: float, text: str, wanted: str) -> float:
    least, most = parameter.least, parameter.most
    if (least is not None and value < least) or (most is not None and value > most):
        raise _not_allowed(parameter, text, wanted)
    return value


def _not_allowed(parameter: Parameter, text: str, wanted: str) -> UsageError:
    least, most = parameter.least, parameter.most
    bounds = f" from {least:g} to {most:.0f}" if least is not None and most is not None else ""
    return UsageError(
        f"`{parameter.name}` must be {wanted}{bounds}; `{shown(text)}` is not.",
        hint=parameter.doc,
    )


def _read_flag(parameter: Parameter, text: str) -> bool:
    flag = _FLAGS.get(text.strip().lower())
    if flag is None:
        raise _not_allowed(parameter, text, "true or false")
    return flag


def _read_choice(parameter: Parameter, text: str) -> str:
    chosen = text.strip().lower()
    if chosen in parameter.choices:
        return chosen
    near = difflib.get_close_matches(chosen[:60], parameter.choices, n=1)
    raise UsageError(
        f"`{parameter.name}` must be one of {', '.join(parameter.choices)}; "
        f"`{shown(text)}` is not.",
        hint=f"Did you mean `{near[0]}`?" if near else parameter.doc,
    )


_READERS: dict[str, Callable[[Parameter, str], Default]] = {
    "text": _read_text,
    "folder": _read_text,
    "path": _read_text,
    "whole": _read_whole,
    "number": _read_number,
    "flag": _read_flag,
    "choice": _read_choice,
}
