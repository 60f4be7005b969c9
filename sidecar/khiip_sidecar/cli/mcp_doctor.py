"""`khiipd mcp doctor`: starts the server as a client would, and tries everything once."""

from __future__ import annotations

import click

from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.mcp_install import entry_of
from khiip_sidecar.cli.output import plain, write, write_json


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@pass_app
def command(app: App, /, as_json: bool) -> int:
    """Shake hands with a server of its own and call each tool once.

    Says for each step how long it took, or what is wrong and what helps.

    Exit codes: 0 all well; 1 something is wrong.
    """
    from khiip_sidecar.mcp_server.trial import try_server

    steps = try_server(entry_of(app, "khiip"))
    if as_json:
        write_json([each.as_dict() for each in steps])
    else:
        for each in steps:
            mark = "ok" if each.ok else "WRONG"
            write(plain(f"{mark:<6}{each.step:<24}{each.seconds * 1000:>6.0f} ms  {each.said}"))
            if each.hint:
                write(plain(f"      {each.hint}"))
    return 0 if all(each.ok for each in steps) else 1
