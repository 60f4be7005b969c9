"""Walks the folders that may hold notes; the one place that decides where a walk goes."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from khiip_indexer.disk.ignore import NODE_MODULES, IgnoreRules
from khiip_indexer.disk.looks import (
    PLACEHOLDER,
    SUFFIX,
    Lister,
    Listing,
    Status,
    Target,
    look_at,
    look_at_name,
    real_place,
)
from khiip_indexer.disk.path_text import decode_path, encode_path
from khiip_indexer.disk.patience import GaveUp, Patience
from khiip_indexer.errors import VaultError
from khiip_indexer.types import Fingerprint, Problem

T = TypeVar("T")

LOOK_SECONDS = 3.0
# Where so many entries of one folder hang, the others of that folder are not waited for.
_MOST_SILENT = 16
_INODE_BITS = (1 << 63) - 1
# File-provider flags of macOS and Windows for a file whose content is still in the cloud.
_DATALESS = 0x40000000
_RECALL = 0x00001000 | 0x00400000

_PROBLEMS = {
    "folder_unreadable": ("the folder cannot be read: {}", "Check the folder's permissions."),
    "note_unreadable": ("the note cannot be read: {}", "Check the note's permissions."),
    "folder_timeout": (
        "the folder did not answer in time",
        "Is its drive connected? What is known of its notes stays; it is tried again later.",
    ),
    "read_timeout": (
        "the note did not answer in time",
        "Is its drive connected? What is known of it stays; it is tried again later.",
    ),
}


class Walk:
    """One look at a vault: `problems` and `offline` notes gather while it goes on.

    `linked` becomes true once it went through a symlink to a folder: which of several links to
    one folder is followed only a walk of the whole vault can tell. `patience` is whose threads
    wait for a drive that may not answer.
    """

    def __init__(self, root: Path, rules: IgnoreRules, *, follow: bool, patience: Patience) -> None:
        self.problems: list[Problem] = list(rules.problems)
        self.offline: set[str] = set()
        self.linked = False
        self._root = root
        self._real = os.path.realpath(root)
        self._rules = rules
        self._follow = follow
        self._followed: set[str] = set()
        self._patience = patience
        self._silent: Counter[str] = Counter()
        self._unanswered: set[str] = set()

    def notes(self) -> Iterator[tuple[str, Fingerprint]]:
        """(path, fingerprint) of every note; raises VaultError when the vault cannot be opened."""
        for prefix, listing in self._folders(""):
            yield from self._notes(prefix, listing)

    def notes_at(self, path: str) -> Iterator[tuple[str, Fingerprint]]:
        """The note at a path, or every note below it; nothing when nothing is there."""
        if self._rules.reserved_segment(path):
            return
        raw = decode_path(path)
        named = self._ask(raw, partial(look_at_name, self.disk_path(path)))
        if named is None or not named.listed:
            return
        prefix, name = _split(raw)
        if named.folder != os.path.join(self._real, prefix).rstrip(os.sep):  # noqa: PTH118
            self.linked = True
        if named.target.is_folder:
            if self.own_place(named.target.real, path) is not None:
                return
            self.linked |= named.is_link
            if not self._rules.folder_reason(path) and not self._reason(named.target.real):
                for below, listing in self._folders(f"{raw}/"):
                    yield from self._notes(below, listing)
        elif not self._rules.reason(path):
            yield from self._linked_note(prefix, name, named.target)
            if named.in_cloud:
                self._placeholder(prefix, f".{name}{PLACEHOLDER}")

    def folders(self, path: str = "") -> Iterator[str]:
        """Vault-relative paths of a folder and all below that may hold notes, parents first."""
        if path:
            target = self._ask(decode_path(path), partial(look_at, self.disk_path(path)))
            if target is None or self._rules.folder_reason(path) or self._reason(target.real):
                return
            if self.own_place(target.real, path) is not None:
                return
        for prefix, _ in self._folders(f"{decode_path(path)}/" if path else ""):
            yield encode_path(prefix.removesuffix("/"))

    def _folders(self, prefix: str) -> Iterator[tuple[str, Listing]]:
        """(vault-relative prefix, entries) of every folder that may hold notes."""
        todo = [prefix]
        while todo:
            prefix = todo.pop()
            listing = self._list(prefix)
            if listing is None:
                continue
            yield prefix, listing
            links = set(listing.links)
            todo.extend(
                f"{prefix}{name}/"
                for name in sorted((*listing.folders, *listing.links), reverse=True)
                if self._descends(prefix, name, is_link=name in links)
            )

    def _list(self, prefix: str) -> Listing | None:
        path = prefix.removesuffix("/")
        disk = self._disk(path)
        lister = Lister(disk, partial(self._may_be_note, prefix))
        try:
            found = self._ask(path, lister, lambda: lister.seen)
        except OSError as error:
            reason = error.strerror or str(error)
            if not prefix:
                raise VaultError(f"The vault {disk} cannot be opened: {reason}.") from error
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                # Gone between two looks is no problem; locked is, and says nothing of its notes.
                self._problem(path, "folder_unreadable", reason)
            return None
        if found is None and not prefix:
            raise no_answer(self._root)
        return found

    def _ask(
        self, path: str, look: Callable[[], T], seen: Callable[[], int] | None = None
    ) -> T | None:
        """What a look found; None, and a problem, when it did not come back in time."""
        folder = path.rpartition("/")[0]
        if self._silent[folder] < _MOST_SILENT:
            try:
                return self._patience.run(path, look, LOOK_SECONDS, seen)
            except GaveUp:
                self._silent[folder] += 1
        if path not in self._unanswered:  # a link may be a note's and a folder's
            self._unanswered.add(path)
            self._problem(path, "read_timeout" if path[-3:].lower() == SUFFIX else "folder_timeout")
        return None

    def _descends(self, prefix: str, name: str, *, is_link: bool) -> bool:
        """Whether to walk into an entry; a symlink is followed once, and never to a folder above.

        Without remembering the real folders behind symlinks, folders that link to each other
        would be walked along every possible way.
        """
        path = prefix + name
        if name == NODE_MODULES or self._pruned(path):
            return False
        if not is_link:
            return True
        target = self._target(path)
        if target is None or not target.is_folder or self._reason(target.real):
            return False
        if self.own_place(target.real, encode_path(path)) is not None:
            return False
        self.linked = True
        real, parent = str(target.real), os.path.realpath(self._disk(prefix.removesuffix("/")))
        if real in self._followed or (parent + os.sep).startswith(real.rstrip(os.sep) + os.sep):
            return False
        self._followed.add(real)
        return True

    def _target(self, path: str) -> Target | None:
        return self._ask(path, partial(look_at, self._disk(path)))

    def _pruned(self, path: str) -> bool:
        rules = self._rules
        return rules.has_patterns and rules.pattern_for_folder(encode_path(path)) is not None

    def _may_be_note(self, prefix: str, name: str) -> bool:
        rules = self._rules
        return not (rules.has_patterns and rules.pattern_for_note(encode_path(prefix + name)))

    def _notes(self, prefix: str, listing: Listing) -> Iterator[tuple[str, Fingerprint]]:
        for name in listing.placeholders:
            self._placeholder(prefix, name)
        for name, status in listing.notes:
            yield from self._note(prefix + name, status)
        for name in listing.links:
            if name[-3:].lower() == SUFFIX and self._may_be_note(prefix, name):
                target = self._target(prefix + name)
                if target is not None:
                    yield from self._linked_note(prefix, name, target)

    def _linked_note(
        self, prefix: str, name: str, target: Target
    ) -> Iterator[tuple[str, Fingerprint]]:
        if name[-3:].lower() != SUFFIX or self._reason(target.real):
            return
        own = self.own_place(target.real, encode_path(prefix + name), is_note=True)
        if own is None:
            yield from self._note(prefix + name, target.status)

    def _note(self, path: str, status: Status) -> Iterator[tuple[str, Fingerprint]]:
        if isinstance(status, OSError):
            self._problem(path, "note_unreadable", status.strerror or str(status))
        elif status is not None and stat.S_ISREG(status.st_mode):
            if is_offline(status):
                self.offline.add(encode_path(path))
            else:
                yield encode_path(path), fingerprint_of(status)

    def _placeholder(self, prefix: str, name: str) -> None:
        """`.Pump.md.icloud` stands for `Pump.md`, whose content is in the cloud."""
        path = encode_path(prefix + name[1 : -len(PLACEHOLDER)])
        if path[-3:].lower() == SUFFIX and self._rules.reason(path) is None:
            self.offline.add(path)

    def _problem(self, path: str, code: str, reason: str = "") -> None:
        said, hint = _PROBLEMS[code]
        self.problems.append(Problem(encode_path(path), code, said.format(reason), hint=hint))

    def _disk(self, path: str) -> str:
        return os.path.join(self._root, path) if path else str(self._root)  # noqa: PTH118

    def disk_path(self, path: str) -> str:
        """Where a vault-relative path is on disk."""
        return self._disk(decode_path(path))

    def own_place(self, real: str | None, path: str, *, is_note: bool = False) -> str | None:
        """Where in the vault the notes behind a path are walked already; None where by it alone.

        Every note is captured once, at its own place, as in the app: a second way to it over a
        symlink would be a second hit for everything that it says. What a rule leaves out at its
        own place has but the way that somebody made for it.
        """
        inside = self.inside(real) if real is not None else None
        own = None if inside is None else encode_path(inside)
        if own is None or own == path:
            return None
        if not is_note:
            return None if own and self._rules.folder_reason(own) else own
        return own if own[-3:].lower() == SUFFIX and self._rules.reason(own) is None else None

    def why_no_note(self, path: str) -> str | None:
        """Why what is at a path is no note, whatever its name says; None when it is one.

        Also None where nothing is: a note may come there.
        """
        disk = self.disk_path(path)
        target = self._ask(decode_path(path), partial(look_at, disk))
        if target is None or not os.path.lexists(disk):
            return None if target else "it does not answer"
        if target.status is None:
            return "a symlink to nothing"
        if isinstance(target.status, OSError):
            ring = target.status.errno == errno.ELOOP
            return "a symlink that leads in a circle" if ring else None
        if target.is_folder:
            return "a folder, not a note"
        if not stat.S_ISREG(target.status.st_mode):
            return "no regular file"
        own = self.own_place(target.real, path, is_note=True)
        return f"reached over a symlink; the note counts as {own}" if own else None

    def leaves(self, path: str) -> bool:
        """Whether a path that is there leads out of the vault."""
        disk = self.disk_path(path)
        real = real_place(disk)
        return real is not None and self.inside(real) is None and os.path.exists(disk)  # noqa: PTH110

    def symlink_reason(self, disk: str) -> str | None:
        """Why the real place of a path is no place for a note; None when it is one."""
        return self._reason(real_place(disk))

    def _reason(self, real: str | None) -> str | None:
        if real is None:
            return "a path that cannot be resolved"
        inside = self.inside(real)
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


def no_answer(root: Path) -> VaultError:
    """What is said of a vault whose own folder hangs."""
    return VaultError(f"The vault {root} does not answer.", hint="Is its drive connected?")


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


def _split(path: str) -> tuple[str, str]:
    """A path's folder, with its `/`, and its name."""
    folder, separator, name = path.rpartition("/")
    return folder + separator, name
