"""`khiipd status`: how much of the vault can be found, and what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from khiip_indexer.config import Settings
from khiip_indexer.types import Problem
from khiip_sidecar.cli.app import App, local_backend, pass_app
from khiip_sidecar.cli.output import (
    Paint,
    counted,
    painter,
    plain,
    problem_line,
    write,
    write_json,
)
from khiip_sidecar.client import SidecarClient, find_sidecar
from khiip_sidecar.wire.encode import problem_view

EXIT_PROBLEMS = 3
Health = Mapping[str, Any]


@click.command("status")
@click.option(
    "--problems",
    "most",
    type=click.IntRange(0),
    default=10,
    metavar="N",
    help="Show at most N problems; 0 shows none.  [default: 10]",
)
@click.option("--json", "as_json", is_flag=True, help="Print /health and all problems as JSON.")
@pass_app
def command(app: App, /, *, most: int, as_json: bool) -> int:
    """Show how much of the vault can be found, and what is wrong.

    A problem is something in a note that could not be read as promised: the note is still
    found, and the line says where to look.

    \b
    Examples:
      khiipd status
      khiipd status --json | jq .index

    Exit codes: 0 all is well; 3 some notes have problems; 4 there is no index.
    """
    settings = app.settings()
    sidecar = find_sidecar(settings)
    health, problems = _look(settings, sidecar, limit=None if as_json else most)
    if as_json:
        write_json({**health, "problems": [problem_view(each) for each in problems]})
    else:
        for line in status_lines(settings, sidecar, health, painter(sys.stdout)):
            write(line)
        _show_problems(problems, health["index"]["problems"])
    return EXIT_PROBLEMS if health["index"]["problems"] else 0


def _look(
    settings: Settings, sidecar: SidecarClient | None, limit: int | None
) -> tuple[Health, list[Problem]]:
    from khiip_indexer.index import VaultIndex

    with VaultIndex.open(settings) as index:
        problems = index.problems(limit=limit)
    if sidecar is not None:
        return sidecar.health(), problems
    with local_backend(settings) as local:
        return local.health(), problems


def status_lines(
    settings: Settings, sidecar: SidecarClient | None, health: Health, paint: Paint
) -> list[str]:
    """A label and a sentence a line."""
    index = health["index"]
    serving = "not running"
    if sidecar is not None:
        serving = f"running on port {sidecar.sidecar.port}, pid {sidecar.sidecar.pid}"
    facts = {
        "vault": plain(str(settings.vault)),
        "sidecar": serving,
        "state": _state(health, paint),
        "coverage": coverage(index),
        "index": f"{counted(index['vectors'], 'vector')}, generation {index['generation']}",
        "last run": index["last_reconcile"] or "never",
        "problems": f"{index['problems']:,}" if index["problems"] else "none",
    }
    return [f"{paint(f'{label:<9}', dim=True)} {fact}" for label, fact in facts.items()]


def coverage(index: Mapping[str, Any]) -> str:
    """`423 of 501 notes searchable by meaning, 501 by text`."""
    notes = counted(index["notes"], "note")
    said = f"{index['searchable_by_meaning']:,} of {notes} searchable by meaning"
    if index["pending"]:
        said += f", {index['pending']:,} waiting"
    return said


def _state(health: Health, paint: Paint) -> str:
    if health["status"] == "ok":
        return str(health["state"])
    return paint(f"{health['state']}, degraded: {plain(health.get('reason') or '')}", fg="yellow")


def _show_problems(problems: Sequence[Problem], total: int) -> None:
    for problem in problems:
        write(f"  {problem_line(problem)}")
        if problem.hint:
            write(f"      {plain(problem.hint)}")
    if problems and total > len(problems):
        write(f"  … and more: khiipd status --problems {total}")
