"""`khiipd mcp install`: tells an agent's program how to start the server."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from khiip_indexer.config import config_home, kept_environment
from khiip_indexer.errors import StorageError
from khiip_indexer.storage.atomic import write_file
from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import say, write
from khiip_sidecar.mcp_server.clients import (
    BY_NAME,
    Entry,
    place_of,
    snippet,
    with_entry,
    without_entry,
)
from khiip_sidecar.mcp_server.naming import is_named
from khiip_sidecar.program import program


@click.command("install")
@click.option(
    "--client", "name", required=True, type=click.Choice(sorted(BY_NAME)), help="The program."
)
@click.option("--name", "server", default="khiip", show_default=True, help="The server's name.")
@click.option("--write", "writing", is_flag=True, help="Change the program's file.")
@click.option("--remove", is_flag=True, help="Take the server out of it again.")
@click.option("--file", "file", metavar="PATH", help="The file, where it is not the usual one.")
@pass_app
def command(  # noqa: PLR0913 - an option each
    app: App, /, *, name: str, server: str, writing: bool, remove: bool, file: str | None
) -> None:
    """Print, or with --write merge, what an agent's program must be told.

    The program's other settings stay as they are; the file as it was is kept beside it. The
    vault is the one that is named, and else is left to the program's own folders.

    \b
    Examples:
      khiipd --vault ~/Notes mcp install --client claude-code
      khiipd --vault ~/Notes mcp install --client cursor --write
      khiipd mcp install --client cursor --remove
    """
    client = BY_NAME[name]
    place = Path(file) if file else place_of(client, sys.platform, Path.home(), config_home())
    if remove:
        _change(place, without_entry(client, _text(place), server), "removed")
        return
    entry = entry_of(app, server)
    if not writing:
        say(f"For {client.title}, in {place}:")
        write(snippet(client, entry).rstrip("\n"))
        return
    _change(place, with_entry(client, _text(place), entry), "written")
    say(f"Start {client.title} anew to have it see the server.")


def entry_of(app: App, server: str) -> Entry:
    """The server as this installation starts it, for the vault that is named."""
    vault: list[str] = []
    if is_named(app.overrides):
        vault = ["--vault", str(app.settings().vault)]
    return Entry(server, [*program(), *vault, "mcp"], kept_environment())


def _text(place: Path) -> str:
    try:
        return place.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{place} cannot be read: {error}.", hint="Check the file.") from error


def _change(place: Path, text: str, done: str) -> None:
    before = _text(place)
    if text == before:
        say(f"{place}: nothing to change")
        return
    place = place.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    if before:
        kept = _free(place)
        write_file(kept, before.encode())
        kept.chmod(place.stat().st_mode & 0o777)
        say(f"kept as it was: {kept}")
    _put(place, text)
    say(f"{done}: {place}")


def _put(place: Path, text: str) -> None:
    if not text:
        place.unlink(missing_ok=True)
        return
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o600
    write_file(place, text.encode())
    place.chmod(mode)


def _free(place: Path) -> Path:
    """A name for a copy that overwrites no earlier one."""
    number = 1
    while (kept := place.with_name(f"{place.name}.before-khiip-{number}")).exists():
        number += 1
    return kept
