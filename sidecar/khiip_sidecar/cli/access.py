"""`khiipd access`: what was read and when, taken from one device to another."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import click

from khiip_indexer.config import Settings
from khiip_indexer.errors import IndexMissing
from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import counted, say, write

_STANDARD = "-"


@click.group("access")
def command() -> None:
    """Export and import what was read and when.

    Recall weighs what you read lately. That history is in no note, so it does not travel with
    them: with these commands it does. Both work while the sidecar runs.

    \b
    Example:
      khiipd access export laptop.jsonl      (on one device)
      khiipd access import laptop.jsonl      (on the other)
    """


@command.command("export")
@click.argument("file", metavar="[FILE]", required=False, default=_STANDARD)
@pass_app
def export(app: App, /, file: str) -> None:
    """Write the whole history as JSON lines, to FILE or to stdout.

    A line is one access (id of the capture, device, at), or the number of a device's older ones
    (id, device, count, until).
    """
    from khiip_indexer.storage.accesses import AccessLog
    from khiip_indexer.storage.atomic import write_file
    from khiip_sidecar.memory.access_lines import line_of

    settings = _settings(app)
    with closing(AccessLog(settings.state)) as log:
        lines = [line_of(entry) for entry in log.entries()]
    text = "\n".join(lines)
    if file != _STANDARD:
        write_file(Path(file), f"{text}\n".encode() if lines else b"")
    elif lines:
        write(text)
    say(f"exported {counted(len(lines), 'line')}")


@command.command("import")
@click.argument("file", metavar="FILE|-")
@pass_app
def import_(app: App, /, file: str) -> None:
    """Take in what was exported, here or elsewhere, from FILE or stdin (-).

    In any order and as often as you like: nothing is counted twice. A file with a line that is
    no access is refused as a whole (exit code 1).
    """
    from khiip_indexer.storage.accesses import AccessLog
    from khiip_sidecar.memory.access_lines import entries_of

    settings = _settings(app)
    raw = sys.stdin.buffer.read() if file == _STANDARD else Path(file).read_bytes()
    found = entries_of(raw.split(b"\n"))
    with closing(AccessLog(settings.state)) as log:
        new = log.merge(found) if found else 0
    say(f"read {counted(len(found), 'line')}, {new:,} of them told something new")


def _settings(app: App) -> Settings:
    from khiip_indexer.storage.owner import check_owner

    settings = app.settings()
    check_owner(settings.state, settings.vault)
    if not settings.state.is_dir():
        raise IndexMissing("This vault has no index yet.", hint="Run khiipd reindex.")
    return settings
