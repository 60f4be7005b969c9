"""The console script: one look for a reindex that has nothing to do, else the whole program.

Nothing here may import more than the look itself needs: git hooks and timers run `khiipd reindex`
all day, and nearly always nothing has changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from khiip_indexer.disk import glance
from khiip_indexer.formats import INDEX_FORMAT
from khiip_indexer.homes import CONFIG_FILE, config_folder

SIDECAR_FILE = "sidecar.json"


def main() -> None:
    """Run one command line."""
    code = at_a_glance(sys.argv[1:], os.environ, _here())
    if code is not None:
        sys.exit(code)
    from khiip_sidecar.cli.main import main as whole

    try:
        whole()
    except SystemExit as end:
        end_at_once(end.code)
        raise


def end_at_once(code: str | int | None) -> None:
    """End the process, where nothing is left to wait for; else return, to end it as usual.

    The interpreter would first take apart what the system takes back as a whole, every module and
    the model: a seventh of what a recall costs. Commands have closed what they opened by now.
    """
    import atexit
    import threading

    waited = (each for each in threading.enumerate() if not each.daemon)
    if isinstance(code, str) or list(waited) != [threading.main_thread()]:
        return
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError, AttributeError):  # closed: the interpreter knows what to say
        return
    os._exit(code or 0)


def _here() -> str:
    """The shell's folder; "" when it was deleted meanwhile."""
    try:
        return os.getcwd()  # noqa: PTH109 -- no pathlib here
    except OSError:
        return ""


def at_a_glance(args: Sequence[str], environ: Mapping[str, str], cwd: str) -> int | None:
    """The exit code of a plain `reindex` when nothing has changed since the last; else None."""
    named = _vault_of(args)
    if named is None:
        return None
    config = f"{config_folder(environ)}/{CONFIG_FILE}"
    vault = named or environ.get("KHIIP_VAULT") or ("" if os.path.exists(config) else cwd)  # noqa: PTH110
    state = f"{os.path.realpath(vault)}/.khiip"
    seen = f"{state}/{glance.SEEN_FILE}"
    if not vault or not os.path.exists(seen) or os.path.exists(f"{state}/{SIDECAR_FILE}"):  # noqa: PTH110
        return None
    now = glance.look(os.path.realpath(vault), state, config, INDEX_FORMAT)
    known = glance.unchanged(state, now)
    if known is None:
        return None
    code, said = known
    if sys.stderr is not None:  # the caller may have closed it
        sys.stderr.write(f"{said}\n")
    return code


def _vault_of(args: Sequence[str]) -> str | None:
    """What a plain `reindex` names as its vault, "" for nothing; None for any other command."""
    if args == ["reindex"]:
        return ""
    if len(args) == 3 and args[0] == "--vault" and args[2] == "reindex":
        return args[1]
    return None
