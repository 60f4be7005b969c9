"""`khiipd get`: one capture, whole."""

from __future__ import annotations

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import say, write, write_json, write_pretty


@click.command("get")
@click.argument("name", metavar="ID")
@click.option("--embed-text", is_flag=True, help="Print the text that its first vector is made of.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the REST service does.")
@pass_app
def command(app: App, /, name: str, embed_text: bool, as_json: bool) -> None:
    """Print one capture with its payload.

    ID is a capture's id, or the note's path in the vault.

    \b
    Examples:
      khiipd get 01J8Z3V7Q2M4N6P8R0S2T4V6X8
      khiipd get Notes/Quipu.md --json | jq .payload
      khiipd get Notes/Quipu.md --embed-text
    """
    from khiip_indexer.index import VaultIndex
    from khiip_sidecar.cli.naming import capture_id, named_record

    settings = app.settings()
    if embed_text:
        with VaultIndex.open(settings) as index:
            text = index.embed_text(named_record(index, settings, name))
        show_embed_text(text, as_json=as_json)
        return
    with app.backend(settings) as backend:
        capture = backend.capture(capture_id(settings, name))
    if capture.get("stale"):
        say("the note has changed since this was read from it; run khiipd reindex")
    (write_json if as_json else write_pretty)(capture)


def show_embed_text(text: str, *, as_json: bool) -> None:
    """The text as it is, or as one field of JSON."""
    if as_json:
        write_json({"embed_text": text})
    else:
        write(text)
