"""Command-line options from the tables that HTTP parameters come from: no name is spelled twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from khiip_sidecar.wire.params import Parameter

Command = TypeVar("Command", bound=Callable[..., Any])
Given = str | bool | tuple[str, ...] | None

METAVARS = {
    "whole": "N",
    "number": "X",
    "text": "TEXT",
    "time": "TIME",
    "folder": "FOLDER",
    "path": "PATH",
}
CLI_DEFAULTS = {"view": "lean"}  # a person reads rows; programs ask for records


def wire_options(
    parameters: Sequence[Parameter], *, leave_out: Sequence[str] = ()
) -> Callable[[Command], Command]:
    """Adds an option for every parameter.

    Values are checked by the service, so that every face says the same about a wrong one.
    """
    offered = [each for each in parameters if each.name not in leave_out]

    def add(command: Command) -> Command:
        for parameter in reversed(offered):
            command = _option(parameter)(command)
        return command

    return add


def params_of(given: Mapping[str, Given]) -> dict[str, list[str]]:
    """What was said on the command line as the parameters of a request."""
    said = {name: _texts(value) for name, value in given.items()}
    for name, default in CLI_DEFAULTS.items():
        if name in said and not said[name]:
            said[name] = [default]
    return {name: texts for name, texts in said.items() if texts}


def _texts(value: Given) -> list[str]:
    if value is None or isinstance(value, bool):
        return ["true"] if value else []
    return list(value) if isinstance(value, tuple) else [value]


def _option(parameter: Parameter) -> Callable[[Command], Command]:
    name = f"--{parameter.name.replace('_', '-')}"
    help_text = _help(parameter)
    if parameter.kind == "flag" and parameter.default:
        both = f"{name}/--no-{name[2:]}"
        return click.option(both, parameter.name, default=None, callback=_said, help=help_text)
    if parameter.kind == "flag":
        return click.option(name, parameter.name, is_flag=True, help=help_text)
    return click.option(
        name,
        parameter.name,
        metavar=_metavar(parameter),
        multiple=parameter.many != "one",
        help=help_text,
    )


def _said(_context: click.Context, _option: click.Parameter, value: bool | None) -> str | None:
    """What was said of a flag that is on by default; None when nothing was."""
    return None if value is None else str(value).lower()


def _metavar(parameter: Parameter) -> str:
    if parameter.choices:
        return "|".join(parameter.choices)
    return METAVARS[parameter.kind]


def _help(parameter: Parameter) -> str:
    default = CLI_DEFAULTS.get(parameter.name, parameter.default)
    notes = [] if default is None or parameter.kind == "flag" else [f"default: {default}"]
    if parameter.many != "one":
        notes.append("may be repeated")
    if parameter.negatable:
        notes.append("a value behind a - is left out")
    return f"{parameter.doc}  [{'; '.join(notes)}]" if notes else parameter.doc
