"""`khiipd list`: what the index holds, newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.behind import say_behind
from khiip_sidecar.cli.options import Given, params_of, wire_options
from khiip_sidecar.cli.output import say, write_json
from khiip_sidecar.cli.rows import show_captures
from khiip_sidecar.client import Backend
from khiip_sidecar.wire.params import CAPTURES

PAGE = 1000  # the most that one request may ask for


@click.command("list")
@wire_options(CAPTURES)
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the REST service does.")
@pass_app
def command(app: App, /, as_json: bool, **given: Given) -> None:
    """List captures, newest first.

    Every note is a capture. `--limit 0` lists all of them.

    \b
    Examples:
      khiipd list --source web --tag history
      khiipd list --since 7d
      khiipd list --limit 0 --json > captures.json
    """
    params = params_of(given)
    settings = app.settings()
    with app.backend(settings) as backend:
        ask = _all if params.get("limit") == ["0"] else _page
        captures = ask(backend, params)
    if any(each.get("stale") for each in captures):
        say_behind(settings)
    if as_json:
        write_json(captures)
        return
    show_captures(captures, params["view"][0])
    if not captures:
        say("nothing found")


def _page(backend: Backend, params: Mapping[str, Sequence[str]]) -> list[Any]:
    captures: list[Any] = backend.captures(params)
    return captures


def _all(backend: Backend, params: Mapping[str, Sequence[str]]) -> list[Any]:
    """Page after page until one is not full."""
    offset = params.get("offset", ["0"])[0]
    if not offset.isdecimal():  # the service says what is wrong with it
        return _page(backend, {**params, "limit": [str(PAGE)]})
    first = int(offset)
    captures: list[Any] = []
    while True:
        offset = str(first + len(captures))
        page = _page(backend, {**params, "limit": [str(PAGE)], "offset": [offset]})
        captures += page
        if len(page) < PAGE:
            return captures
