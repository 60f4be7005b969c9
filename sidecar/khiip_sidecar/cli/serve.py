"""`khiipd serve`: keeps the index and the model ready and answers over HTTP."""

from __future__ import annotations

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import plain, say


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="[default: 8478]")
@click.option("--threads", type=click.IntRange(1, 1024), metavar="N", help="Threads for the model.")
@pass_app
def command(app: App, /, host: str | None, port: int | None, threads: int | None) -> int:
    """Serve one vault over HTTP until stopped.

    Brings the index up to the notes at the start, and answers recalls from memory. Listens on
    this machine only, unless --host names another address: then everybody who can reach it and
    has the key (`khiipd auth show`) can read the vault. Ctrl-C or SIGTERM stop it cleanly.

    \b
    Examples:
      khiipd serve
      khiipd --vault ~/Notes serve --port 9000

    Exit codes: 5 another process holds the vault; 6 the port is in use.
    """
    from khiip_sidecar.daemon import serve

    settings = app.settings(threads=threads)
    return serve(
        settings,
        host or settings.host,
        port or settings.port,
        on_ready=lambda daemon: say(f"serving {plain(str(settings.vault))} on {daemon.url}"),
    )
