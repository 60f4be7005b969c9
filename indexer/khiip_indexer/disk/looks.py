"""Looks at folders, links and paths, each in one go: whatever of a walk may hang is in here."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from khiip_indexer.disk.ignore import NODE_MODULES

SUFFIX = ".md"
PLACEHOLDER = ".icloud"
# There `note.md` also opens `Note.md`; only the folder's own list knows the name.
_NAMES_FOLD = sys.platform in ("darwin", "win32")

# Why there is no status is kept too; None where nothing is (any more).
Status = os.stat_result | OSError | None


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder's entries by name: notes with their status, and whatever else leads to notes.

    `placeholders` stand for notes whose content is in a cloud.
    """

    notes: list[tuple[str, Status]] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    placeholders: list[str] = field(default_factory=list)


class Lister:
    """Lists a folder when it is called, as often as that is; raises OSError.

    `seen` counts entries meanwhile: a folder of many takes long and does not hang.
    """

    def __init__(self, disk: str, is_note: Callable[[str], bool]) -> None:
        self.seen = 0
        self._disk = disk
        self._is_note = is_note

    def __call__(self) -> Listing:
        found = Listing()
        with os.scandir(self._disk) as entries:
            for entry in entries:
                self.seen += 1
                self._sort(entry, found)
        return found

    def _sort(self, entry: os.DirEntry[str], found: Listing) -> None:
        name = entry.name
        if name[0] == ".":
            if name.endswith(PLACEHOLDER):
                found.placeholders.append(name)
        elif entry.is_symlink():
            found.links.append(name)
        elif entry.is_dir(follow_symlinks=False):
            if name != NODE_MODULES:
                found.folders.append(name)
        elif name[-3:].lower() == SUFFIX and self._is_note(name):
            found.notes.append((name, _status(entry.stat)))


@dataclass(frozen=True, slots=True)
class Target:
    """Where a path really leads and what is there; `real` is None where no place has it."""

    real: str | None
    status: Status

    @property
    def is_folder(self) -> bool:
        return isinstance(self.status, os.stat_result) and stat.S_ISDIR(self.status.st_mode)


def look_at(disk: str) -> Target:
    """Follow a path to its end."""
    return Target(real_place(disk), _status(partial(os.stat, disk)))


@dataclass(frozen=True, slots=True)
class Named:
    """What a path that somebody named is: `folder` is the real place of the folder it is in.

    `listed` is false where only another spelling of the name is there.
    """

    target: Target
    folder: str | None
    is_link: bool
    listed: bool
    in_cloud: bool


def look_at_name(disk: str) -> Named:
    """Look at a path and at the folder that it is in."""
    path = Path(disk)
    return Named(
        target=look_at(disk),
        folder=real_place(os.fspath(path.parent)),
        is_link=os.path.islink(disk),  # noqa: PTH114
        listed=not _NAMES_FOLD or _is_listed(path),
        in_cloud=os.path.lexists(path.with_name(f".{path.name}{PLACEHOLDER}")),
    )


def real_place(disk: str) -> str | None:
    """A path with every symlink followed; None where no place has it."""
    try:
        return os.path.realpath(disk)
    except (OSError, ValueError):
        return None


def _status(ask: Callable[[], os.stat_result]) -> Status:
    try:
        return ask()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None  # gone between two looks, or a path that no file can have
    except OSError as error:
        return error


def _is_listed(path: Path) -> bool:
    try:
        return path.name in os.listdir(path.parent)  # noqa: PTH208
    except (OSError, ValueError):
        return False
