"""`khiipd serve`: keeps the index and the model ready and answers over HTTP."""

from __future__ import annotations

import logging
import sys

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import plain
from khiip_sidecar.logs import LEVELS, written_logs

log = logging.getLogger(__name__)


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", help="[default: 8478]")
@click.option("--threads", type=click.IntRange(1, 1024), metavar="N", help="Threads for the model.")
@click.option(
    "--idle-exit",
    type=click.IntRange(1, 10**8),
    metavar="SECONDS",
    help="End when nobody asked for so long, and nothing is being indexed.",
)
@click.option(
    "--log-level",
    type=click.Choice(LEVELS),
    default="info",
    show_default=True,
    help="How much to say on stderr, one line each.",
)
@pass_app
def command(  # noqa: PLR0913 - an option each
    app: App,
    /,
    *,
    host: str | None,
    port: int | None,
    threads: int | None,
    idle_exit: int | None,
    log_level: str,
) -> int:
    """Serve one vault over HTTP until stopped.

    Keeps the index up to the notes, and answers recalls from memory. Listens on this machine
    only, unless --host names another address: then everybody who can reach it and has the key
    (`khiipd auth show`) can read the vault. Ctrl-C or SIGTERM stop it cleanly.

    \b
    Examples:
      khiipd serve
      khiipd --vault ~/Notes serve --port 9000

    Exit codes: 0 stopped; 5 another process holds the vault; 6 the port is in use.
    """
    from khiip_sidecar.daemon import Daemon, serve
    from khiip_sidecar.worker import leave

    settings = app.settings(threads=threads)

    def say_ready(daemon: Daemon) -> None:
        log.info("serving %s on %s", plain(str(settings.vault)), daemon.url)

    with written_logs(sys.stderr, log_level):
        code = serve(
            settings,
            host or settings.host,
            port or settings.port,
            on_ready=say_ready,
            idle_exit=idle_exit,
        )
        log.info("stopped")
    return leave(code)
