"""`khiipd hooks`: git brings the index up to the notes whenever it has changed them."""

from __future__ import annotations

import os
import subprocess

import click

from khiip_indexer.config import Settings, kept_environment
from khiip_sidecar.cli.app import App, pass_app
from khiip_sidecar.cli.output import plain, say, write, write_json
from khiip_sidecar.githooks import install as hook_files
from khiip_sidecar.githooks.repository import Repository, find_repository
from khiip_sidecar.githooks.run import LOG_FILE, WAITING_FILE, is_running, run
from khiip_sidecar.githooks.script import HOOKS, Target
from khiip_sidecar.program import program

EXIT_NOT_INSTALLED = 1


@click.group("hooks")
def command() -> None:
    """Have git bring the index up to the notes when it changed them.

    Three hooks are written: post-merge, post-checkout and post-rewrite. They start `khiipd
    reindex` in the background after a merge, pull, checkout or rebase, and change nothing about
    what git does or says. Hooks that are there go on as before.

    \b
    Examples:
      khiipd --vault ~/Notes hooks install
      khiipd --vault ~/Notes hooks status
    """


@command.command("install")
@pass_app
def install(app: App, /) -> int:
    """Write the hooks, or bring them up to date; safe to run again.

    A script for sh gets a few marked lines after its first one. Any other hook is moved aside as
    NAME.before-khiip and called from the new one. core.hooksPath is respected.
    """
    from khiip_indexer.storage.folder import make

    settings = app.settings()
    repository = find_repository(settings.vault)
    hook_files.install(repository, _target(app, settings, repository))
    make(settings)  # the hooks do nothing for a vault without it, and keep their log in it
    say(f"{', '.join(HOOKS)} are installed in {plain(str(repository.hooks))}")
    if repository.shared:
        say("this folder serves other repositories too; nothing happens in those without an index")
    return 0


@command.command("uninstall")
@pass_app
def uninstall(app: App, /) -> int:
    """Take the hooks out; what was there before is as it was, byte for byte."""
    settings = app.settings()
    repository = find_repository(settings.vault)
    taken = hook_files.uninstall(repository, _target(app, settings, repository))
    for name in (LOG_FILE, WAITING_FILE):
        (settings.state / name).unlink(missing_ok=True)
    say(f"{', '.join(taken)} taken out" if taken else "no hook of this vault was installed")
    return 0


@command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print the hooks as JSON.")
@pass_app
def status(app: App, /, *, as_json: bool) -> int:
    """Show the hooks of this vault and where their log is.

    Exit codes: 0 all are installed; 1 some are missing or out of date.
    """
    settings = app.settings()
    repository = find_repository(settings.vault)
    hooks = hook_files.look(repository, _target(app, settings, repository))
    log = settings.state / LOG_FILE
    if as_json:
        rows = [{"name": each.name, "state": each.state, "chained": each.chained} for each in hooks]
        write_json({"folder": str(repository.hooks), "hooks": rows, "log": str(log)})
    else:
        for each in hooks:
            also = ", and runs the one that was there" if each.chained else ""
            write(f"{each.name:<13} {each.state}{also}")
        write(plain(f"{'folder':<13} {repository.hooks}"))
        write(plain(f"{'log':<13} {log if log.exists() else 'nothing yet'}"))
    return 0 if all(each.state == "installed" for each in hooks) else EXIT_NOT_INSTALLED


@command.command("run", hidden=True)
@click.option("--after", "git", type=int, default=0, metavar="PID", help="Wait for its end.")
@click.argument("name", type=click.Choice(HOOKS))
@pass_app
def run_hook(app: App, /, *, git: int, name: str) -> int:
    """Bring the index up to the notes; what the hooks start."""
    settings = app.settings()
    if settings.state.is_dir():
        run(settings.state, name, lambda: _reindex(app, settings), lambda: is_running(git))
    return 0


def _reindex(app: App, settings: Settings) -> tuple[int, str]:
    words = [*program(), "--vault", str(settings.vault)]
    if app.overrides.state_dir:
        words += ["--state-dir", app.overrides.state_dir]
    done = subprocess.run(  # noqa: S603 -- this program, with the arguments of the hook
        [*words, "reindex"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    return done.returncode, done.stderr.decode("utf-8", "replace")


def _target(app: App, settings: Settings, repository: Repository) -> Target:
    inside = settings.state == settings.vault / ".khiip"
    named = app.overrides.state_dir
    return Target(
        folder=os.path.relpath(settings.vault, repository.top),
        program=program(),
        vault=str(settings.vault),
        state=None if inside else str(settings.state),
        state_dir=str(settings.state) if named else None,
        environment=tuple(kept_environment().items()),
    )
