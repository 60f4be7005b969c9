"""`khiipd related`: captures near another one."""

from __future__ import annotations

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.behind import say_behind
from khiip_sidecar.cli.options import Given, params_of, wire_options
from khiip_sidecar.cli.output import say, write_json
from khiip_sidecar.cli.rows import show_captures
from khiip_sidecar.wire.params import RELATED


@click.command("related")
@click.argument("name", metavar="ID")
@wire_options(RELATED, leave_out=("id", "path"))
@click.option("--json", "as_json", is_flag=True, help="Print the answer as the REST service does.")
@pass_app
def command(app: App, /, name: str, as_json: bool, **given: Given) -> None:
    """Show captures near another one in meaning.

    ID is a capture's id, or the note's path in the vault. The capture itself and its older and
    newer versions are left out.

    \b
    Examples:
      khiipd related Notes/Quipu.md
      khiipd related 01J8Z3V7Q2M4N6P8R0S2T4V6X8 --limit 3
    """
    from khiip_sidecar.cli.naming import capture_id

    settings = app.settings()
    params = params_of(given)
    with app.backend(settings) as backend:
        answer = backend.related({"id": [capture_id(settings, name)], **params})
    if answer.get("stale"):
        say_behind(settings)
    if as_json:
        write_json(answer)
        return
    show_captures(answer["results"], params["view"][0])
    if not answer["results"]:
        say("nothing is near it")
