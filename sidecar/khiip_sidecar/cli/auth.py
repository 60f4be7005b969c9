"""`khiipd auth`: the key that other programs need to ask the sidecar."""

from __future__ import annotations

import click

from khiip_indexer.config import find_homes
from khiip_sidecar.auth import key_path, load_or_make_key, rotate_key
from khiip_sidecar.cli.output import say, write, write_json

JSON_OPTION = click.option("--json", "as_json", is_flag=True, help="Print the key as JSON.")


@click.group("auth")
def command() -> None:
    """Show or change the key of the REST service.

    Every request but /health must carry it: `Authorization: Bearer khiip_…`. It is kept in a file
    in your config folder that only you can read, and is the same for all your vaults.

    \b
    Example:
      curl -H "Authorization: Bearer $(khiipd auth show)" http://127.0.0.1:8478/api/v1/meta
    """


@command.command("show")
@JSON_OPTION
def show(as_json: bool) -> None:
    """Print the key; it is made on first use."""
    _print(load_or_make_key(find_homes(), say), as_json)


@command.command("rotate")
@JSON_OPTION
def rotate(as_json: bool) -> None:
    """Make a new key and print it.

    The old key stops working at once; give the new one to your plugins and programs.
    """
    homes = find_homes()
    key = rotate_key(homes)
    _print(key, as_json)
    say(f"the new key is in {key_path(homes)}; programs that use the old one need it")


def _print(key: str, as_json: bool) -> None:
    if as_json:
        write_json({"api_key": key})
    else:
        write(key)
