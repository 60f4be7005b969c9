"""`khiipd status`: how much of the vault can be found, and what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

import click

from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError
from khiip_indexer.types import Problem
from khiip_sidecar.cli.app import App, local_backend, pass_app
from khiip_sidecar.cli.facts import Look, status_lines
from khiip_sidecar.cli.folding import folded_lines
from khiip_sidecar.cli.output import painter, plain, write, write_json
from khiip_sidecar.client import find_sidecar
from khiip_sidecar.wire.encode import problem_view

EXIT_PROBLEMS = 3


@click.command("status")
@click.option(
    "--problems",
    "most",
    type=click.IntRange(0),
    default=10,
    metavar="N",
    help="Show at most N problems; 0 shows none.  [default: 10]",
)
@click.option("--watch", is_flag=True, help="Go on showing it until Ctrl-C.")
@click.option("--json", "as_json", is_flag=True, help="Print /health and all problems as JSON.")
@pass_app
def command(app: App, /, *, most: int, watch: bool, as_json: bool) -> int:
    """Show how much of the vault can be found, and what is wrong.

    A problem is something in a note that could not be read as promised: the note is still
    found, and the line says where to look. With --watch, --json prints a line for each change,
    as /api/v1/index answers it.

    \b
    Examples:
      khiipd status
      khiipd status --watch
      khiipd status --json | jq .index

    Exit codes: 0 all is well, or --watch was ended; 3 some notes have problems; 4 there is no
    index.
    """
    settings = app.settings()
    if watch:
        return _watch(settings, as_json=as_json)
    look, problems = _look(settings), _problems(settings)
    if as_json:
        write_json({**look.health, "problems": [problem_view(each) for each in problems]})
    else:
        for line in status_lines(settings, look, painter(sys.stdout)):
            write(line)
        _show_problems(problems, most)
    return EXIT_PROBLEMS if look.health["index"]["problems"] else 0


def _look(settings: Settings) -> Look:
    sidecar = find_sidecar(settings)
    if sidecar is not None:
        return Look(sidecar.health(), sidecar.index_state(), sidecar.sidecar)
    with local_backend(settings) as local:
        return Look(local.health(), local.index_state())


def _problems(settings: Settings) -> list[Problem]:
    from khiip_indexer.index import VaultIndex

    with VaultIndex.open(settings) as index:
        return index.problems()


def _watch(settings: Settings, *, as_json: bool) -> int:
    from khiip_sidecar.cli.progress import repainted
    from khiip_sidecar.cli.watch import changes, line_of, sparingly, states

    try:
        if as_json:
            for state in changes(states(settings), lambda state: state):
                write_json(state)
                sys.stdout.flush()
        elif sys.stdout.isatty():
            with repainted() as repaint:
                for _ in states(settings):
                    with suppress(KhiipError):  # a sidecar that stops just now; look again then
                        repaint(status_lines(settings, _look(settings), painter(sys.stdout)))
        else:
            for line in changes(sparingly(states(settings)), line_of):
                write(line)
                sys.stdout.flush()
    except KeyboardInterrupt:
        return 0
    return 0


def _show_problems(problems: Sequence[Problem], most: int) -> None:
    lines = folded_lines(problems)
    for line, hint in lines[:most]:
        write(f"  {line}")
        if hint:
            write(f"      {plain(hint)}")
    if most and len(lines) > most:
        write(f"  … and more: khiipd status --problems {len(problems)}")
