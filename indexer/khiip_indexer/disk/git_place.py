"""Where a repository keeps what moves with its history; no import beyond the smallest.

`.git` is a folder, or in a linked work tree, a submodule and a repository kept elsewhere a file
that says where the folder is. A linked work tree has a HEAD and a reflog of its own, and shares
its branches with the repository that it is linked to.
"""

from __future__ import annotations

import os

_MOST = 8192
# What changes when history does, beside HEAD and the branch that it names. Branches may lie packed
# in one file, or in tables; a reflog is not kept by every repository.
_MOVING = ("packed-refs", "shallow", "reftable/tables.list")

Stamp = tuple[int, int, int]


def marks(vault: str) -> tuple[object, ...] | None:
    """Where `.git` is, what HEAD says, and the stamps of what moves; None without a repository.

    They change whenever a commit is made, taken or checked out. HEAD is "" where there is none.
    Raises OSError where it may not be looked into.
    """
    git = _found(vault)
    if git is None:
        return None
    place = _led_to(git)
    shared = os.path.join(place, _text(f"{place}/commondir"))  # noqa: PTH118
    head = _text(f"{place}/HEAD")
    branch = head.partition("ref: ")[2] or "HEAD"
    paths = [f"{place}/HEAD", f"{place}/logs/HEAD"]
    for folder in {f"{place}/": None, os.path.join(shared, ""): None}:  # noqa: PTH118
        paths += [folder + name for name in (branch, *_MOVING)]
    return (git, head, *map(stamp, paths))


def stamp(path: str) -> Stamp | None:
    """Length, time and inode of a file; None when it is not there."""
    try:
        status = os.stat(path)  # noqa: PTH116 -- pathlib would cost more than all the rest
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ino)


def _found(vault: str) -> str | None:
    """The nearest `.git`, at the vault or above it."""
    folder = vault
    while True:
        git = os.path.join(folder, ".git")  # noqa: PTH118
        if os.path.exists(git):  # noqa: PTH110
            return git
        parent = os.path.dirname(folder)  # noqa: PTH120
        if parent == folder:
            return None
        folder = parent


def _led_to(git: str) -> str:
    if not os.path.isfile(git):  # noqa: PTH113
        return git
    said = _text(git).partition("gitdir: ")[2]
    return os.path.join(os.path.dirname(git), said) if said else git  # noqa: PTH118, PTH120


def _text(path: str) -> str:
    """What a small file says; "" when it is not there."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return os.fsdecode(file.read(_MOST)).rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return ""
