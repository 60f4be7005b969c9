"""`khiipd service`: the system serves the vault from login on."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from khiip_indexer.config import Settings, config_home, kept_environment
from khiip_indexer.errors import KhiipError, StorageError, Unsupported
from khiip_sidecar import services
from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import plain, say, write, write_json
from khiip_sidecar.program import program
from khiip_sidecar.services import Manager, Service

EXIT_NOT_INSTALLED = 1
PORT_OPTION = click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="Serve on this port; vaults that are served at once need different ones.",
)


@click.group("service")
def command() -> None:
    """Have the system serve the vault from login on.

    On Linux this is a unit of your own systemd, on macOS a launch agent. No rights of an
    administrator are needed.

    \b
    Examples:
      khiipd --vault ~/Notes service install
      khiipd --vault ~/Notes service install --print
    """


@command.command("install")
@PORT_OPTION
@click.option(
    "--print", "only_print", is_flag=True, help="Write the file to stdout, change nothing."
)
@pass_app
def install(app: App, /, *, port: int | None, only_print: bool) -> int:
    """Write the unit or launch agent, and start it; safe to run again."""
    settings = app.settings()
    manager = _manager(app, settings, port)
    if only_print:
        write(manager.content.decode().rstrip("\n"))
        return 0
    try:
        manager.path.parent.mkdir(parents=True, exist_ok=True)
        manager.path.write_bytes(manager.content)
    except OSError as error:
        raise StorageError(f"{manager.path}: {error.strerror}.") from error
    for words in manager.before:
        services.run(words)
    say(f"{plain(str(manager.path))} is written")
    if _all(manager.start):
        say(f"the vault is served now and from every login on; its log: {manager.logs}")
    return 0


@command.command("uninstall")
@pass_app
def uninstall(app: App, /) -> int:
    """Stop the service and take its file away."""
    manager = _manager(app, app.settings(), None)
    if not manager.path.exists():
        say("no service of this vault is installed")
        return 0
    for words in manager.stop:
        services.run(words)  # one that has ended already is no reason to keep the file
    try:
        manager.path.unlink()
    except OSError as error:
        raise StorageError(f"{manager.path}: {error.strerror}.") from error
    for words in manager.after_removal:
        services.run(words)
    say(f"{plain(str(manager.path))} is taken away")
    return 0


@command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print what is known as JSON.")
@pass_app
def status(app: App, /, *, as_json: bool) -> int:
    """Show whether a service of this vault is installed and runs.

    Exit codes: 0 it is installed; 1 it is not.
    """
    manager = _manager(app, app.settings(), None)
    installed = manager.path.exists()
    asked = services.run(manager.ask) if installed else None
    active = None if asked is None else asked[0] == 0
    if as_json:
        facts = {"file": str(manager.path), "installed": installed, "active": active}
        write_json({**facts, "logs": manager.logs})
    else:
        running = {True: "running", False: "not running", None: "the system does not tell"}[active]
        write(f"service  {f'installed, {running}' if installed else 'not installed'}")
        write(plain(f"file     {manager.path}"))
        write(plain(f"logs     {manager.logs}"))
    return 0 if installed else EXIT_NOT_INSTALLED


def _manager(app: App, settings: Settings, port: int | None) -> Manager:
    service = Service(settings.vault, _words(app, settings, port), kept_environment())
    if sys.platform == "darwin":
        return services.launchd(service, Path.home(), os.getuid())
    if sys.platform.startswith("linux"):
        return services.systemd(service, config_home())
    call = " ".join(f'"{word}"' if " " in word else word for word in service.words)
    if sys.platform == "win32":
        raise Unsupported(
            "On Windows, Task Scheduler starts programs at login; khiipd installs nothing there.",
            hint=f"Make a task that begins at log on and runs: {call}",
        )
    raise Unsupported(
        f"khiipd knows no services of {sys.platform}.", hint=f"Have your system run: {call}"
    )


def _words(app: App, settings: Settings, port: int | None) -> list[str]:
    words = [*program(), "--vault", str(settings.vault)]
    if app.overrides.state_dir:
        words += ["--state-dir", str(settings.state)]
    return [*words, "serve", *(["--port", str(port)] if port else [])]


def _all(commands: Sequence[Sequence[str]]) -> bool:
    """Run them one after the other; False where the system has no such tool."""
    for words in commands:
        ran = services.run(words)
        call = " ".join(words)
        if ran is None:
            say(f"there is no {words[0]} here; where there is, run: {call}")
            return False
        if ran[0]:
            raise KhiipError(
                f"The file is written, but `{call}` failed: {plain(ran[1]) or 'no reason given'}.",
                hint="Log in to a session of your own and run khiipd service install again.",
                code="service_failed",
            )
    return True
