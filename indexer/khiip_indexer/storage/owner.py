"""Whose index a folder outside the vault holds: two vaults must never share one."""

from __future__ import annotations

import os
from pathlib import Path

from khiip_indexer.errors import UsageError
from khiip_indexer.storage.atomic import write_file

OWNER_FILE = "vault"
# Names the process that writes an index, for people; the lock beside it is what counts.
WRITER_FILE = "writer.json"


def claim(state: Path, vault: Path) -> None:
    """Write down whose index this is; for the one process that holds the lock."""
    check_owner(state, vault)
    if not state.is_relative_to(vault):
        write_file(state / OWNER_FILE, os.fsencode(vault))


def check_owner(state: Path, vault: Path) -> None:
    """Raise UsageError when the folder `state` holds the index of another vault that still exists.

    A vault that was moved takes its index over, so only a folder that is still there counts.
    """
    owner = _owner(state)
    if owner is None or not os.path.isdir(owner) or owner.samefile(vault):  # noqa: PTH112
        return
    raise UsageError(
        f"The folder {state} holds the index of another vault, {owner}.",
        hint="Give each vault a folder of its own: --state-dir, or leave `state_dir` out.",
        code="index_of_other_vault",
    )


def _owner(state: Path) -> Path | None:
    try:
        return Path(os.fsdecode((state / OWNER_FILE).read_bytes()))
    except OSError:  # inside a vault there is none
        return None
