"""`khiipd`: finds the command, and shows every error the same way."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

import click

from khiip_indexer import __version__
from khiip_indexer.config import Overrides
from khiip_indexer.errors import KhiipError, StorageError
from khiip_sidecar.cli.app import App
from khiip_sidecar.cli.lazy import LazyGroup
from khiip_sidecar.cli.output import show_error

COMMANDS = {
    "recall": "recall",
    "list": "list_captures",
    "get": "get",
    "related": "related",
    "reindex": "reindex",
    "refetch": "refetch",
    "status": "status",
    "doctor": "doctor",
    "eval": "eval",
    "embedder": "embedder",
    "access": "access",
    "auth": "auth",
    "serve": "serve",
    "service": "service",
    "hooks": "hooks",
    "mcp": "mcp",
}
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141  # what a shell shows for a program that a closed pipe ended


class KhiipdGroup(LazyGroup):
    """Every command, with errors turned into lines and exit codes."""

    modules = COMMANDS

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"There is no command {name!r}.{_nearest(name)}", ctx)
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *_: object, **extra: object) -> NoReturn:
        """Run a command line and leave with its exit code."""
        _open_closed_streams()
        given = list(sys.argv[1:] if args is None else args)
        run = partial(super().main, given, "khiipd", standalone_mode=False)
        sys.exit(run_guarded(run, given))

    def invoke(self, ctx: click.Context) -> object:
        """Stops quietly when the reader of stdout went away, as `khiipd list | head` does."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _point_at_nothing()
            return EXIT_BROKEN_PIPE
        return code


def run_guarded(call: Callable[[], object], args: Sequence[str]) -> int:
    """Run a command; its exit code is what it returned, or what its error says."""
    as_json = "--json" in args
    try:
        code = call()
    except KhiipError as error:
        show_error(error, as_json=as_json)
        return error.exit_code
    except click.Abort:
        return EXIT_INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return EXIT_USAGE
    except click.ClickException as error:
        show_error(_as_usage(error), as_json=as_json)
        return EXIT_USAGE
    except Exception as error:
        if "--debug" in args:
            raise
        show_error(_unexpected(error), as_json=as_json)
        return 1
    return code if isinstance(code, int) else 0


def _as_usage(error: click.ClickException) -> KhiipError:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "khiipd"
    return KhiipError(error.format_message(), hint=f"See `{path} --help`.", code="bad_parameter")


def _unexpected(error: Exception) -> KhiipError:
    if isinstance(error, OSError) and error.strerror:  # the system's refusal, not a fault of ours
        what = error.filename or "The output"
        return StorageError(f"{what}: {error.strerror}.", hint="Check the place and its disk.")
    reason = " ".join(str(error).split())
    return KhiipError(
        f"Something unexpected went wrong: {type(error).__name__}: {reason}",
        hint="Run `khiipd --debug …` for the traceback.",
    )


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _open_closed_streams() -> None:
    """A caller that closed a stream (`khiipd status >&-`) wants nothing of it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def _point_at_nothing() -> None:
    """Without this the interpreter tries to flush once more at its end, and complains."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


@click.group(
    cls=KhiipdGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--vault",
    metavar="PATH",
    help="The vault's folder. Else $KHIIP_VAULT, the config file, or the nearest folder above.",
)
@click.option("--state-dir", metavar="PATH", help="Keep the index here, not in VAULT/.khiip.")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
@click.version_option(__version__, message="khiipd %(version)s")
@click.pass_context
def khiipd(ctx: click.Context, vault: str | None, state_dir: str | None, debug: bool) -> None:
    """Recall for an Obsidian vault: by meaning, on your own machine, offline.

    `khiipd reindex` reads the vault, `khiipd recall` asks it, `khiipd serve` keeps it ready for
    other programs. No command ever changes a note.

    \b
    Examples:
      khiipd --vault ~/Notes reindex
      khiipd recall "how did people count with knots"
      khiipd status

    Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, and some notes have problems; 4 there is
    no index, or another model made it; 5 another process holds the vault; 6 the port is in use.
    """
    ctx.obj = App(Overrides(vault=vault, state_dir=state_dir), debug)


def main() -> None:
    """The console script."""
    khiipd.main()
