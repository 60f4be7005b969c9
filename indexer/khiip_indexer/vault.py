"""The vault on disk: which files are notes, their bytes and fingerprints; it never writes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from khiip_indexer.disk.ignore import NODE_MODULES, IgnoreRules
from khiip_indexer.disk.path_text import decode_path, encode_path
from khiip_indexer.errors import NotFound, PathOutsideVault, ReservedFolder, UsageError, VaultError
from khiip_indexer.types import Fingerprint, Problem

MAX_NOTE_BYTES = 20 * 1024 * 1024
_SUFFIX = ".md"
_INODE_BITS = (1 << 63) - 1
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)
# File-provider flags of macOS and Windows for a file whose content is still in the cloud.
_DATALESS = 0x40000000
_RECALL = 0x00001000 | 0x00400000


class Vault:
    """A folder of Markdown notes, seen read-only; paths are vault-relative with `/`.

    `excludes` are gitignore patterns from the config. After a scan, `problems` tells what could
    not be read (nothing below a folder named there is known to be gone), and `offline` the notes
    whose content is not on this machine.
    """

    def __init__(
        self, root: Path, excludes: Sequence[str] = (), follow_symlinks: bool = False
    ) -> None:
        self.root = root.absolute()
        self.problems: list[Problem] = []
        self.offline: set[str] = set()
        self._excludes = tuple(excludes)
        self._follow = follow_symlinks
        self._real = os.path.realpath(self.root)
        if not self.root.is_dir():
            raise VaultError(
                f"There is no vault folder at {self.root}.", hint="Check the path given as vault."
            )
        self._rules = self._load_rules()

    @property
    def name(self) -> str:
        """The vault's name, as Obsidian shows it: its folder's."""
        return self.root.name

    def scan(self) -> Iterator[tuple[str, Fingerprint]]:
        """Walk the vault: (path, fingerprint) of every note; rules are read again first.

        Raises VaultError when the vault itself cannot be opened.
        """
        self._rules = self._load_rules()
        self.offline = set()
        for _, prefix, entries in self._walk():
            yield from self._notes(prefix, entries)

    def folders(self) -> Iterator[str]:
        """Every folder that may hold notes, the vault itself ("") first."""
        # A second reader, so that the problems of the last scan stay as they are.
        for _, prefix, _ in Vault(self.root, self._excludes, self._follow)._walk():
            yield encode_path(prefix.removesuffix("/"))

    def excluded_by(self, path: str) -> str | None:
        """The rule that keeps a vault-relative path from being a note, in words; None for a note.

        Also for paths that do not exist (any more).
        """
        if found := self._rules.reason(path):
            return found
        if path[-3:].lower() != _SUFFIX:
            return "not a note: its name does not end in .md"
        return self._symlink_reason(self._disk_path(path))

    def excluded_folder_by(self, path: str) -> str | None:
        """The rule that keeps a folder and all that is in it out; None when it may hold notes."""
        if not path:
            return None
        return self._rules.folder_reason(path) or self._symlink_reason(self._disk_path(path))

    def read(self, path: str, limit: int = MAX_NOTE_BYTES) -> tuple[bytes, bool]:
        """A note's bytes, at most `limit`, and whether there were more.

        Raises NotFound when it is gone, VaultError when it is there and cannot be read.
        """
        disk = self._disk_path(path)
        status = self._stat(disk)
        if status is None:
            raise NotFound(f"The note {path} is not in the vault any more.")
        if is_offline(status):
            raise VaultError(
                f"The content of {path} is not on this machine.",
                hint="Open the note once, so that the cloud service fetches it.",
                code="note_offline",
            )
        try:
            with Path(disk).open("rb") as file:
                raw = file.read(limit + 1)
        except FileNotFoundError as error:
            raise NotFound(f"The note {path} is not in the vault any more.") from error
        except OSError as error:
            raise VaultError(
                f"The note {path} cannot be read: {error.strerror or error}.",
                hint="Check the file's permissions.",
                code="note_unreadable",
            ) from error
        return raw[:limit], len(raw) > limit

    def fingerprint(self, path: str) -> Fingerprint | None:
        """The fingerprint of a note as it is now; None when it is gone or left the vault."""
        status = self._stat(self._disk_path(path))
        return _fingerprint(status) if status is not None else None

    def is_untouched(self, path: str, known: Fingerprint) -> bool:
        """Whether the file is the very one that was indexed; one look, for every hit of a search.

        A file that passes is where it was when it was let in, so no rule is asked again.
        """
        try:
            status = os.stat(self._disk_path(path))  # noqa: PTH116
        except (OSError, ValueError):
            return False
        return _fingerprint(status) == known

    def resolve(self, client_path: str) -> str:
        """The vault-relative path that a client means; "" is the vault.

        `\\` separates like `/` on every system, unless a file has it in its name. Raises
        PathOutsideVault for what leaves the vault, even over a symlink, and ReservedFolder for
        hidden folders, which hold no notes.
        """
        if "\0" in client_path:
            raise UsageError("A path cannot hold a NUL character.")
        segments = _segments(client_path)
        for segment in segments:
            if segment.startswith("."):
                raise ReservedFolder(f"The folder '{segment}' holds no notes.")
        path = "/".join(segments)
        if "\\" in client_path and self._stat(self._disk_path(client_path)) is not None:
            path = client_path
        self._check_resolved(path)
        return path

    def _check_resolved(self, path: str) -> None:
        try:
            inside = self._inside(os.path.realpath(self._disk_path(path)))
        except (OSError, ValueError) as error:
            raise UsageError(f"The path cannot be used: {error}.") from error
        if inside is None and not self._follow:
            raise PathOutsideVault("The path leaves the vault over a symlink.")
        if inside and any(segment.startswith(".") for segment in inside.split("/")):
            raise ReservedFolder("The path leads to a hidden folder, which holds no notes.")

    def _load_rules(self) -> IgnoreRules:
        rules = IgnoreRules(self.root, self._excludes)
        self.problems = list(rules.problems)
        return rules

    def _walk(self) -> Iterator[tuple[str, str, list[os.DirEntry[str]]]]:
        """(disk path, vault-relative prefix, entries) of every folder that may hold notes."""
        todo = [(str(self.root), "")]
        linked: set[str] = set()
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
                if self._descends(entry, prefix + entry.name, linked)
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

    def _descends(self, entry: os.DirEntry[str], path: str, linked: set[str]) -> bool:
        """Whether to walk into an entry; a symlink is followed once, and never to a folder above.

        `linked` are the real folders behind the symlinks followed so far: without it, folders
        that link to each other would be walked along every possible way.
        """
        if entry.name[0] == "." or entry.name == NODE_MODULES:
            return False
        if not entry.is_symlink():
            return not self._pruned(path)
        if not _leads_to_folder(entry) or self._pruned(path) or self._symlink_reason(entry.path):
            return False
        real, parent = os.path.realpath(entry.path), os.path.realpath(Path(entry.path).parent)
        if real in linked or (parent + os.sep).startswith(real.rstrip(os.sep) + os.sep):
            return False
        linked.add(real)
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
            if name[-3:].lower() != _SUFFIX:
                continue
            path = encode_path(prefix + name)
            if rules.has_patterns and rules.pattern_for_note(path) is not None:
                continue
            status = self._entry_status(entry, path)
            if status is not None:
                yield path, _fingerprint(status)

    def _entry_status(self, entry: os.DirEntry[str], path: str) -> os.stat_result | None:
        try:
            if not entry.is_symlink():
                status = entry.stat(follow_symlinks=False)
            elif self._symlink_reason(entry.path):
                return None
            else:
                status = entry.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._problem(path, "note_unreadable", error.strerror or str(error))
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        if is_offline(status):
            self.offline.add(path)
            return None
        return status

    def _placeholder(self, prefix: str, name: str) -> None:
        """`.Pump.md.icloud` stands for `Pump.md`, whose content is in the cloud."""
        if name.endswith(".icloud"):
            path = prefix + name[1 : -len(".icloud")]
            if path[-3:].lower() == _SUFFIX and self._rules.reason(encode_path(path)) is None:
                self.offline.add(encode_path(path))

    def _problem(self, path: str, code: str, reason: str) -> None:
        kind = "folder" if code == "folder_unreadable" else "note"
        hint = f"Check the {kind}'s permissions."
        shown = encode_path(path)
        self.problems.append(
            Problem(shown, code, f"the {kind} cannot be read: {reason}", hint=hint)
        )

    def _disk_path(self, path: str) -> str:
        return os.path.join(self.root, decode_path(path)) if path else str(self.root)  # noqa: PTH118

    def _stat(self, disk: str) -> os.stat_result | None:
        """The status of a regular file inside the vault, else None."""
        try:
            status = os.stat(disk)  # noqa: PTH116
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode) or self._symlink_reason(disk):
            return None
        return status

    def _symlink_reason(self, disk: str) -> str | None:
        """Why the real place of a path is no place for a note; None when it is one."""
        try:
            inside = self._inside(os.path.realpath(disk))
        except (OSError, ValueError):
            return "a path that cannot be resolved"
        if inside is None:
            return None if self._follow else "a symlink that leaves the vault"
        rule = self._rules.reserved_segment(inside) if inside else None
        return f"a symlink to a place that holds no notes ({rule})" if rule else None

    def _inside(self, real: str) -> str | None:
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


def _fingerprint(status: os.stat_result) -> Fingerprint:
    # Some file systems number files with 64 unsigned bits, more than SQLite's integers hold.
    inode = status.st_ino & _INODE_BITS
    return Fingerprint(status.st_size, status.st_mtime_ns, status.st_ctime_ns, inode)


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a loop of symlinks, or one to a place that cannot be looked at


def _segments(client_path: str) -> list[str]:
    """The names in a client's path; raises PathOutsideVault for every way out of the vault."""
    if client_path.startswith(("/", "\\")) or _DRIVE.match(client_path):
        raise PathOutsideVault("The path must be relative to the vault.")
    segments = []
    for segment in re.split(r"[\\/]", client_path):
        # An encoded dot is never decoded here, and no folder is called so either.
        if _DOTS.fullmatch(segment.strip()) and segment != ".":
            raise PathOutsideVault("The path leaves the vault.")
        if segment not in ("", "."):
            segments.append(segment)
    return segments
