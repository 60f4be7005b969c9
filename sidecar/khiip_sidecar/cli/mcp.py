"""`khiipd mcp`: recall for agents over stdin and stdout, and how agents' programs learn of it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import click

from khiip_sidecar.cli.app import App, local_backend, pass_app
from khiip_sidecar.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from khiip_sidecar.mcp_server.pipes import Pipes


class McpGroup(LazyGroup):
    """What belongs to an agent's program beside the server itself."""

    modules: ClassVar = {"install": "mcp_install", "doctor": "mcp_doctor"}


@click.group("mcp", cls=McpGroup, invoke_without_command=True)
@click.option("--vault", metavar="PATH", help="The vault's folder; the same as before `mcp`.")
@click.pass_context
@pass_app
def command(app: App, ctx: click.Context, /, vault: str | None) -> None:
    """Answer an agent's program over stdin and stdout.

    It speaks the Model Context Protocol. Started by the program itself: `khiipd mcp install` says
    how it learns of it. Uses the running sidecar of the vault, and else opens the index itself,
    for reading only. Where no vault is named, the client's roots choose it. Ends with its client.

    \b
    Examples:
      khiipd --vault ~/Notes mcp
      khiipd mcp install --client claude-code --write
      khiipd mcp doctor
    """
    if vault is not None:
        app.overrides = replace(app.overrides, vault=vault)
    if ctx.invoked_subcommand is None:
        _serve(app)


def _serve(app: App) -> None:
    from khiip_sidecar.mcp_server.parent import watch_parent
    from khiip_sidecar.mcp_server.pipes import claim_pipes

    pipes = claim_pipes()  # before anything else is loaded: no library may reach the protocol
    watch_parent(lambda: os._exit(0))  # also before: loading takes a while
    try:
        _answer(app, pipes)
    except KeyboardInterrupt:
        pass
    finally:
        sys.stderr.flush()
        # A thread may still wait for stdin, or be inside the model: neither can be interrupted.
        os._exit(0)


def _answer(app: App, pipes: Pipes) -> None:
    from khiip_sidecar.logs import written_logs
    from khiip_sidecar.mcp_server.naming import is_named, load_around
    from khiip_sidecar.mcp_server.source import VaultSource

    with written_logs(sys.stderr, "warning"):
        from khiip_sidecar.mcp_server.stdio import serve_stdio

        named = is_named(app.overrides)
        source = VaultSource(load_around(app.overrides), local_backend, named=named)
        serve_stdio(source, pipes)
        source.close()
