"""`khiipd refetch`: one note, read and embedded again."""

from __future__ import annotations

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import plain, say, write_json

RE_EXTRACT = "re-extract"


@click.command("refetch")
@click.argument("name", metavar="ID")
@click.option(
    "--re-extract", is_flag=True, required=True, help="Read the note and embed it again, offline."
)
@click.option("--json", "as_json", is_flag=True, help="Print the capture as the REST service does.")
@pass_app
def command(app: App, /, name: str, re_extract: bool, as_json: bool) -> None:
    """Read one note again and embed it anew.

    ID is a capture's id, or the note's path in the vault. Use it when a capture's embedding
    failed. Nothing is fetched from the web, and the note itself is not changed.

    \b
    Example:
      khiipd refetch Notes/Quipu.md --re-extract
    """
    from khiip_sidecar.cli.naming import capture_id

    settings = app.settings()
    with app.backend(settings, write=True) as backend:
        capture = backend.refetch(capture_id(settings, name), {"dimension": [RE_EXTRACT]})
    if as_json:
        write_json(capture)
    say(f"{plain(capture['vault_path'])}: {capture['extraction_status']}")
