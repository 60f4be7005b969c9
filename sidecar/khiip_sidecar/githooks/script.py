"""Hook scripts as bytes: our marked block put into them and taken out again; pure."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote

HOOKS = ("post-merge", "post-checkout", "post-rewrite")
ASIDE = ".before-khiip"
BARE = b"#!/bin/sh\n# Made by khiipd hooks install.\n"
# `exec` hands on arguments, standard input and exit code, which git makes its own after a checkout.
CHAIN = (
    b"#!/bin/sh\n# Made by khiipd hooks install; the hook that was here is beside this one.\n"
    b'if [ -x "$0' + ASIDE.encode() + b'" ]; then exec "$0' + ASIDE.encode() + b'" "$@"; fi\n'
)
_SHELLS = ("sh", "ash", "bash", "dash", "ksh", "mksh", "zsh", "busybox")
_CONTROL = {*range(9), *range(14, 32)} - {0x1B}


@dataclass(frozen=True, slots=True)
class Target:
    """What the hooks of one vault start.

    `folder` is the vault below the top of its repository ("." for the top itself). `program` are
    the words that start khiipd. `state` is set when the index is kept outside the vault; then
    `vault` is where the vault is, else the hooks find it from the top, wherever that has moved.
    `environment` holds what a program that calls git may not pass on.
    """

    folder: str
    program: Sequence[str]
    vault: str
    state: str | None = None
    state_dir: str | None = None
    environment: Sequence[tuple[str, str]] = ()

    @property
    def label(self) -> str:
        """Tells the vaults of one repository apart, in one line of ASCII."""
        return quote(os.fsencode(self.folder), safe="/ ")


def block(hook: str, target: Target) -> bytes:
    """The lines that start a reindex in the background, whatever happens to it.

    They run in a shell of their own that ends at once, so that neither `set -e`, an early `exit`
    nor the last status of the script around them is touched.
    """
    lines = [
        *_where(target),
        f"khiipd={_word(target.program[0])}",
        '[ -x "$khiipd" ] || ' + _elsewhere(target.program),
        # Git tells its hooks where its files are; in another folder that would be wrong.
        "unset $(git rev-parse --local-env-vars)",
        *(f"export {name}={_word(value)}" for name, value in target.environment),
        f'nohup "$khiipd" {_arguments(hook, target)} </dev/null >/dev/null 2>&1 &',
    ]
    if hook == "post-checkout":
        lines.insert(0, '[ "${3-}" = 1 ] || exit 0')  # single files were checked out, no branch
    return marked(
        target.label,
        [
            "# Brings this vault's index up to the notes, in the background, and never fails.",
            "# `khiipd hooks uninstall` takes these lines out.",
            "(",
            *(f"  {line}" for line in lines),
            ") >/dev/null 2>&1 || :",
        ],
    )


def marked(label: str, lines: Sequence[str]) -> bytes:
    """Lines between marks, without a line end after the last."""
    return os.fsencode("\n".join([_start(label), *lines, _end(label)]))


def _elsewhere(program: Sequence[str]) -> str:
    """An environment that moved or was deleted is no reason to complain at every merge."""
    return "exit 0" if len(program) > 1 else "khiipd=$(command -v khiipd) || exit 0"


def _where(target: Target) -> list[str]:
    if target.state is not None:
        return [f"vault={_word(target.vault)}", f"[ -d {_word(target.state)} ] || exit 0"]
    below = "" if target.folder == "." else _word("/" + target.folder)
    # A hooks folder may serve several work trees; only the one with an index is meant.
    return [f'vault="$PWD"{below}', '[ -d "$vault/.khiip" ] || exit 0']


def _arguments(hook: str, target: Target) -> str:
    words = [*(_word(word) for word in target.program[1:]), '--vault "$vault"']
    if target.state_dir is not None:
        words.append(f"--state-dir {_word(target.state_dir)}")
    return " ".join([*words, f'hooks run --after "$PPID" {hook}'])


def _word(text: str) -> str:
    return shlex.quote(text)


def _start(label: str) -> str:
    return f"# >>> khiip: {label} >>>"


def _end(label: str) -> str:
    return f"# <<< khiip: {label} <<<"


def find_block(script: bytes, label: str) -> tuple[int, int] | None:
    """Where the block of a vault begins and ends in a script; None when it is not there."""
    start, end = _start(label).encode() + b"\n", _end(label).encode()
    begins = script.find(start)
    ends = script.find(end, begins) if begins >= 0 else -1
    return (begins, ends + len(end)) if ends >= 0 else None


def with_block(script: bytes, added: bytes) -> bytes:
    """The script with the block after its first line.

    Not at its end: scripts end by `exit` or `exec` as often as not. The work itself starts when
    git has finished, and so after everything that the script does.
    """
    if not script.startswith(b"#!"):
        return added + b"\n" + script
    line, newline, rest = script.partition(b"\n")
    return line + b"\n" + added + newline + rest


def without_block(script: bytes, label: str) -> bytes:
    """The script as it was before `with_block`, byte for byte."""
    found = find_block(script, label)
    if found is None:
        return script
    begins, ends = found
    if ends < len(script):
        return script[:begins] + script[ends:].removeprefix(b"\n")
    return script[:begins].removesuffix(b"\n")


def is_shell(script: bytes) -> bool:
    """Whether lines of shell may be put into a hook; without a first `#!` line git uses sh."""
    if not script.startswith(b"#!"):
        return not any(byte in _CONTROL for byte in script[:8192])
    words = script[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    names = [PurePath(word).name for word in words]
    if names and names[0] == "env":
        names = [name for name in names[1:] if not name.startswith("-") and "=" not in name]
    return bool(names) and names[0] in _SHELLS
