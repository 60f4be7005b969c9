"""Texts of a request -> typed values, by the tables of `wire.params`; pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from khiip_indexer.errors import UsageError
from khiip_indexer.fields.memory import word
from khiip_sidecar.texts import clean_text, shown
from khiip_sidecar.wire.params import (
    MAX_TEXT,
    MAX_VALUES,
    UNSEEN,
    VISIBLE,
    Default,
    Parameter,
)
from khiip_sidecar.wire.times import time_bound

Given = Mapping[str, Sequence[str]]
Value = Default | tuple[Default, ...]

_WHOLE = re.compile(r"[+-]?[0-9]{1,12}", re.ASCII)
# Whatever a program prints of a float, however close to zero.
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,12}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,4})?", re.ASCII
)
_FLAGS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


# A value that itself begins with `-` is told from one that is left out by a `\\` before it.
_ESCAPED = re.compile(r"\\+-")
_DASHED = re.compile(r"\\*-")
_EDGES = re.compile(rf"^[{UNSEEN}]+|[{UNSEEN}]+$")


def parse(parameters: Sequence[Parameter], given: Given, now: datetime) -> dict[str, Any]:
    """Every parameter's value by name, defaults filled in; list parameters give tuples.

    What a negatable one leaves out is under its name with a leading `-`. Raises UsageError for an
    unknown name or a value that is not allowed, and Unsupported for one that this version cannot
    act on.
    """
    texts = _by_name(parameters, given)
    said: dict[str, Any] = {}
    for each in parameters:
        if each.name not in texts and f"-{each.name}" not in texts:
            said |= _unset(each)  # most of them, in every request
            continue
        parts = [*_signed(each, texts, negative=False), *_signed(each, texts, negative=True)]
        _check_count(each, parts)
        said[each.name] = _value(each, [part for part, negative in parts if not negative], now)
        if each.negatable:
            unwanted = [part for part, negative in parts if negative]
            said[f"-{each.name}"] = _value(each, unwanted, now)
    return said


def _unset(parameter: Parameter) -> dict[str, Value]:
    names = (parameter.name, f"-{parameter.name}") if parameter.negatable else (parameter.name,)
    return dict.fromkeys(names, parameter.default if parameter.many == "one" else ())


def escaped(value: str) -> str:
    """A value as a negatable parameter takes it literally, whatever it begins with."""
    return f"\\{value}" if _DASHED.match(value) else value


def split_sign(text: str) -> tuple[str, bool]:
    """(value, whether it is to be left out) of one text of a negatable parameter."""
    negative = text.startswith("-")
    rest = text[1:] if negative else text
    return (rest[1:] if _ESCAPED.match(rest) else rest), negative


def _signed(
    parameter: Parameter, texts: Mapping[str, Sequence[str]], *, negative: bool
) -> Iterator[tuple[str, bool]]:
    name = f"-{parameter.name}" if negative else parameter.name
    for part in _parts(parameter, texts.get(name, ())):
        if parameter.negatable:
            value, dashed = split_sign(part)
            yield value, dashed != negative
        else:
            yield part, False


def _by_name(parameters: Sequence[Parameter], given: Given) -> dict[str, list[str]]:
    names = {alias: each.name for each in parameters for alias in (each.name, *each.aliases)}
    signs = {each.name for each in parameters if each.negatable}
    names |= {f"-{alias}": f"-{name}" for alias, name in names.items() if name in signs}
    texts: dict[str, list[str]] = {}
    for name, values in given.items():
        if name not in names:
            raise _unknown(name, names)
        texts.setdefault(names[name], []).extend(values)
    return texts


def _unknown(name: str, names: Mapping[str, str]) -> UsageError:
    near = difflib.get_close_matches(name[:60], names, n=1, cutoff=0.5)
    listed = ", ".join(sorted({each for each in names.values() if each[0] != "-"}))
    hint = f"Did you mean `{near[0]}`? " if near else ""
    return UsageError(
        f"There is no parameter `{shown(name)}`.",
        hint=f"{hint}Known parameters: {listed}.",
        code="unknown_parameter",
    )


def _check_count(parameter: Parameter, parts: Sequence[tuple[str, bool]]) -> None:
    if parameter.many == "one" and len(set(parts)) > 1:
        raise UsageError(
            f"`{parameter.name}` was given more than once.", hint="Give one value for it."
        )
    if len(parts) > MAX_VALUES:
        raise UsageError(
            f"`{parameter.name}` has {len(parts)} values.",
            hint=f"At most {MAX_VALUES} values are allowed.",
        )


def _value(parameter: Parameter, parts: Sequence[str], now: datetime) -> Value:
    if not parts:
        return parameter.default if parameter.many == "one" else ()
    values = [read_value(parameter, part, now) for part in parts]
    return values[0] if parameter.many == "one" else tuple(dict.fromkeys(values))


def _parts(parameter: Parameter, texts: Sequence[str]) -> list[str]:
    if parameter.many != "commas":
        return list(texts)
    return [_EDGES.sub("", part) for text in texts for part in text.split(",")]


def read_value(parameter: Parameter, text: str, now: datetime) -> Default:
    """One value of a parameter without its sign; raises UsageError where it is not allowed."""
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
    if parameter.name == "tag":  # written with its mark in a note, without it in the index
        cleaned = cleaned.strip().lstrip("#")
    if not re.search(VISIBLE, cleaned.replace("#", "") if parameter.name == "tag" else cleaned):
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
    meant = dict(parameter.words).get(word(chosen), word(chosen))
    if meant in parameter.choices:
        return meant
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
