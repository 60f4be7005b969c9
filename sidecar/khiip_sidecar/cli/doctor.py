"""`khiipd doctor`: finds out why something does not work."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError
from khiip_sidecar.cli import checks
from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import Paint, painter, plain, write, write_json

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@pass_app
def command(app: App, /, *, as_json: bool) -> int:
    """Find out what is broken and how to mend it.

    Looks at Python, SQLite, the native parts, the model, the vault, the index, the key and the
    port. Changes nothing in the vault and asks no network.

    \b
    Example:
      khiipd doctor

    Exit codes: 0 nothing is broken; 1 at least one check failed.
    """
    paint = painter(sys.stdout)
    done = []
    for check in examine(app):
        done.append(check)
        if not as_json:
            show(check, paint)
    if as_json:
        write_json([asdict(check) for check in done])
    return 1 if any(check.verdict == "fail" for check in done) else 0


def examine(app: App) -> Iterator[checks.Check]:
    """Every check, one after the other; a broken part must not hide the parts after it."""
    yield checks.check_python()
    yield checks.check_sqlite()
    native = [checks.check_native(name) for name in checks.NATIVE_PARTS]
    yield from native
    try:
        settings = app.settings()
    except KhiipError as error:
        yield checks.Check("vault", "fail", error.sentence, error.hint)
        return
    yield from _examine_vault(settings, loadable=all(each.verdict == "ok" for each in native))


def _examine_vault(settings: Settings, *, loadable: bool) -> Iterator[checks.Check]:
    yield checks.check_vault(settings)
    if loadable:  # else loading them here would end this process too
        yield checks.check_model(settings)
        yield checks.check_index(settings)
    yield checks.check_key(settings)
    sidecar, client = checks.check_sidecar(settings)
    yield sidecar
    yield checks.check_port(settings, client)


def show(check: checks.Check, paint: Paint) -> None:
    """`ok    sqlite       3.40.1 with FTS5`, the hint below when there is something to do."""
    mark = paint(f"{check.verdict:<5}", fg=COLOURS[check.verdict], bold=check.verdict == "fail")
    write(f"{mark} {check.name:<12} {plain(check.found)}")
    if check.verdict != "ok" and check.hint:
        write(f"{'':<18} {plain(check.hint)}")
