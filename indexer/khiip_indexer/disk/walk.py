"""Walks the folders that may hold notes; the one place that decides where a walk goes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from khiip_indexer.disk.ignore import NODE_MODULES, IgnoreRules
from khiip_indexer.disk.path_text import decode_path, encode_path
from khiip_indexer.errors import VaultError
from khiip_indexer.types import Fingerprint, Problem

SUFFIX = ".md"
PLACEHOLDER = ".icloud"
_INODE_BITS = (1 << 63) - 1
# File-provider flags of macOS and Windows for a file whose content is still in the cloud.
_DATALESS = 0x40000000
_RECALL = 0x00001000 | 0x00400000
# There `note.md` also opens `Note.md`; only the folder's own list knows the name.
_NAMES_FOLD = sys.platform in ("darwin", "win32")

_Entry = os.DirEntry[str] | Path


class Walk:
    """One look at a vault: `problems` and `offline` notes gather while it goes on.

    `linked` becomes true once it went through a symlink to a folder: which of several links to
    one folder is followed only a walk of the whole vault can tell.
    """

    def __init__(self, root: Path, rules: IgnoreRules, *, follow: bool) -> None:
        self.problems: list[Problem] = list(rules.problems)
        self.offline: set[str] = set()
        self.linked = False
        self._root = root
        self._real = os.path.realpath(root)
        self._rules = rules
        self._follow = follow
        self._followed: set[str] = set()

    def notes(self) -> Iterator[tuple[str, Fingerprint]]:
        """(path, fingerprint) of every note; raises VaultError when the vault cannot be opened."""
        for _, prefix, entries in self._folders("", ""):
            yield from self._notes(prefix, entries)

    def notes_at(self, path: str) -> Iterator[tuple[str, Fingerprint]]:
        """The note at a path, or every note below it; nothing when nothing is there."""
        disk = self.disk_path(path)
        prefix, _, name = decode_path(path).rpartition("/")
        prefix = f"{prefix}/" if prefix else ""
        if self._rules.reserved_segment(path) or (_NAMES_FOLD and not _is_listed(disk)):
            return
        if os.path.realpath(Path(disk).parent) != os.path.join(self._real, prefix).rstrip(os.sep):  # noqa: PTH118
            self.linked = True
        if Path(disk).is_dir():
            self.linked |= Path(disk).is_symlink()
            if not self._rules.folder_reason(path) and not self.symlink_reason(disk):
                for _, below, entries in self._folders(disk, f"{prefix}{name}/"):
                    yield from self._notes(below, entries)
            return
        if not self._rules.reason(path):
            yield from self._note(prefix, Path(disk))
            self._note_in_cloud(prefix, Path(disk))

    def folders(self, path: str = "") -> Iterator[str]:
        """Vault-relative paths of a folder and all below that may hold notes, parents first."""
        if path and (self._rules.folder_reason(path) or self.symlink_reason(self.disk_path(path))):
            return
        start = (self.disk_path(path), f"{decode_path(path)}/") if path else ("", "")
        for _, prefix, _ in self._folders(*start):
            yield encode_path(prefix.removesuffix("/"))

    def _folders(self, disk: str, prefix: str) -> Iterator[tuple[str, str, list[os.DirEntry[str]]]]:
        """(disk path, vault-relative prefix, entries) of every folder that may hold notes."""
        todo = [(disk or str(self._root), prefix)]
        while todo:
            folder, prefix = todo.pop()
            entries = self._list(folder, prefix)
            if entries is None:
                continue
            yield folder, prefix, entries
            below = [e for e in entries if e.is_dir(follow_symlinks=False) or e.is_symlink()]
            below.sort(key=lambda entry: entry.name, reverse=True)
            todo.extend(
                (entry.path, f"{prefix}{entry.name}/")
                for entry in below
                if self._descends(entry, prefix + entry.name)
            )

    def _list(self, folder: str, prefix: str) -> list[os.DirEntry[str]] | None:
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except OSError as error:
            reason = error.strerror or str(error)
            if not prefix:
                raise VaultError(f"The vault {folder} cannot be opened: {reason}.") from error
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                # Gone between two looks is no problem; locked is, and says nothing of its notes.
                self._problem(prefix.removesuffix("/"), "folder_unreadable", reason)
            return None

    def _descends(self, entry: os.DirEntry[str], path: str) -> bool:
        """Whether to walk into an entry; a symlink is followed once, and never to a folder above.

        Without remembering the real folders behind symlinks, folders that link to each other
        would be walked along every possible way.
        """
        if entry.name[0] == "." or entry.name == NODE_MODULES:
            return False
        if not entry.is_symlink():
            return not self._pruned(path)
        if not _leads_to_folder(entry) or self._pruned(path) or self.symlink_reason(entry.path):
            return False
        self.linked = True
        real, parent = os.path.realpath(entry.path), os.path.realpath(Path(entry.path).parent)
        if real in self._followed or (parent + os.sep).startswith(real.rstrip(os.sep) + os.sep):
            return False
        self._followed.add(real)
        return True

    def _pruned(self, path: str) -> bool:
        rules = self._rules
        return rules.has_patterns and rules.pattern_for_folder(encode_path(path)) is not None

    def _notes(
        self, prefix: str, entries: list[os.DirEntry[str]]
    ) -> Iterator[tuple[str, Fingerprint]]:
        rules = self._rules
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                self._placeholder(prefix, name)
                continue
            if name[-3:].lower() != SUFFIX:
                continue
            if rules.has_patterns and rules.pattern_for_note(encode_path(prefix + name)):
                continue
            yield from self._note(prefix, entry)

    def _note(self, prefix: str, entry: _Entry) -> Iterator[tuple[str, Fingerprint]]:
        path = encode_path(prefix + entry.name)
        if path[-3:].lower() == SUFFIX and (status := self._status(entry, path)) is not None:
            yield path, fingerprint_of(status)

    def _status(self, entry: _Entry, path: str) -> os.stat_result | None:
        try:
            if entry.is_symlink() and self.symlink_reason(os.fspath(entry)):
                return None
            status = entry.stat(follow_symlinks=entry.is_symlink())
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None  # gone between two looks, or a path that no file can have
        except OSError as error:
            self._problem(path, "note_unreadable", error.strerror or str(error))
            return None
        if stat.S_ISREG(status.st_mode) and is_offline(status):
            self.offline.add(path)
            return None
        return status if stat.S_ISREG(status.st_mode) else None

    def _placeholder(self, prefix: str, name: str) -> None:
        """`.Pump.md.icloud` stands for `Pump.md`, whose content is in the cloud."""
        if name.endswith(PLACEHOLDER):
            path = encode_path(prefix + name[1 : -len(PLACEHOLDER)])
            if path[-3:].lower() == SUFFIX and self._rules.reason(path) is None:
                self.offline.add(path)

    def _note_in_cloud(self, prefix: str, disk: Path) -> None:
        name = f".{disk.name}{PLACEHOLDER}"
        if os.path.lexists(disk.with_name(name)):
            self._placeholder(prefix, name)

    def _problem(self, path: str, code: str, reason: str) -> None:
        kind = "folder" if code == "folder_unreadable" else "note"
        hint = f"Check the {kind}'s permissions."
        shown = encode_path(path)
        self.problems.append(
            Problem(shown, code, f"the {kind} cannot be read: {reason}", hint=hint)
        )

    def disk_path(self, path: str) -> str:
        """Where a vault-relative path is on disk."""
        return os.path.join(self._root, decode_path(path)) if path else str(self._root)  # noqa: PTH118

    def symlink_reason(self, disk: str) -> str | None:
        """Why the real place of a path is no place for a note; None when it is one."""
        try:
            inside = self.inside(os.path.realpath(disk))
        except (OSError, ValueError):
            return "a path that cannot be resolved"
        if inside is None:
            return None if self._follow else "a symlink that leaves the vault"
        rule = self._rules.reserved_segment(inside) if inside else None
        return f"a symlink to a place that holds no notes ({rule})" if rule else None

    def inside(self, real: str) -> str | None:
        """A real path relative to the vault with `/`; None when it is not in the vault."""
        if real == self._real:
            return ""
        base = self._real.rstrip(os.sep) + os.sep
        return real[len(base) :].replace(os.sep, "/") if real.startswith(base) else None


def is_offline(status: os.stat_result) -> bool:
    """Whether a file is a cloud placeholder: opening it would fetch it, or hang."""
    flags: int = getattr(status, "st_flags", 0)
    attributes: int = getattr(status, "st_file_attributes", 0)
    return bool(flags & _DATALESS or attributes & _RECALL)


def fingerprint_of(status: os.stat_result) -> Fingerprint:
    """What tells one state of a file from another without reading it."""
    # Some file systems number files with 64 unsigned bits, more than SQLite's integers hold.
    inode = status.st_ino & _INODE_BITS
    return Fingerprint(status.st_size, status.st_mtime_ns, status.st_ctime_ns, inode)


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a loop of symlinks, or one to a place that cannot be looked at


def _is_listed(disk: str) -> bool:
    try:
        return Path(disk).name in os.listdir(Path(disk).parent)  # noqa: PTH208
    except (OSError, ValueError):
        return False
