"""The vault on disk: which files are notes, their bytes and fingerprints; it never writes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from khiip_indexer.disk.ignore import IgnoreRules, rules_stamp
from khiip_indexer.disk.looks import SUFFIX
from khiip_indexer.disk.path_text import folders_above
from khiip_indexer.disk.patience import GaveUp, Patience
from khiip_indexer.disk.presence import Presence, not_there
from khiip_indexer.disk.walk import LOOK_SECONDS, Walk, fingerprint_of, is_offline, no_answer
from khiip_indexer.errors import NotFound, PathOutsideVault, ReservedFolder, UsageError, VaultError
from khiip_indexer.types import Fingerprint, Problem

T = TypeVar("T")

MAX_NOTE_BYTES = 20 * 1024 * 1024
READ_SECONDS = 3.0
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)


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
        self._excludes = tuple(excludes)
        self._follow = follow_symlinks
        if not self.root.is_dir():
            raise VaultError(
                f"There is no vault folder at {self.root}.", hint="Check the path given as vault."
            )
        self._is_here = Presence(self.root)
        self._patience = Patience()
        self._looking = Patience()
        self._unseen: tuple[Problem, ...] = ()
        self._silent: frozenset[str] = frozenset()
        self._begin(self._read_rules())

    @property
    def name(self) -> str:
        """The vault's name, as Obsidian shows it: its folder's."""
        return self.root.name

    def require(self) -> None:
        """Raise VaultError where the vault's own folder is not there to be looked at."""
        if not self._answer(self._is_here):
            raise not_there(self.root)

    def close(self) -> None:
        """Let go of what reading needed; it may be used again."""
        self._patience.close()
        self._looking.close()

    @property
    def problems(self) -> list[Problem]:
        return self._walk.problems

    @property
    def unlisted(self) -> list[str]:
        """Folders and links that the last scan of the whole vault could not look at."""
        return [each.path for each in self._unseen if each.code.startswith("folder_")]

    @property
    def silent(self) -> frozenset[str]:
        """Notes, folders and links that it waited for in vain."""
        return self._silent

    def is_silent_at(self, path: str) -> bool:
        """Whether it waited in vain for this note or a folder that it is in."""
        silent = self._silent
        return bool(silent) and not silent.isdisjoint((path, *folders_above(path)))

    @property
    def offline(self) -> set[str]:
        return self._walk.offline

    @property
    def linked(self) -> bool:
        """Whether the last scan met a symlink to a folder, of which a part can tell too little."""
        return self._walk.linked

    def scan(self, under: Collection[str] | None = None) -> Iterator[tuple[str, Fingerprint]]:
        """Walk the vault: (path, fingerprint) of every note; rules are read again first.

        `under` limits it to these notes and folders, none of them inside another. Raises
        VaultError when the vault itself cannot be opened.
        """
        self._begin(self._answer(self._read_rules))
        if under is None:
            yield from self._walk.notes()
            self._unseen = tuple(self._walk.problems)
            timeouts = (each for each in self._unseen if each.code.endswith("_timeout"))
            self._silent = frozenset(each.path for each in timeouts)
            return
        if not self._answer(self.root.is_dir):
            raise VaultError(f"The vault {self.root} cannot be opened: it is not there.")
        for path in under:
            yield from self._walk.notes_at(path)

    def folders(self, under: str = "") -> Iterator[str]:
        """Every folder that may hold notes, the vault itself ("") or `under` first."""
        # A walk of its own, so that the problems of the last scan stay as they are.
        yield from self._walk_by(self._answer(self._read_rules)[1]).folders(under)

    def rules_changed(self) -> bool:
        """Whether a file that says what is no note was written since the last scan began."""
        return rules_stamp(self.root) != self._stamp

    def _begin(self, found: tuple[object, IgnoreRules]) -> None:
        self._stamp, self._rules = found
        self._walk = self._walk_by(self._rules)

    def _read_rules(self) -> tuple[object, IgnoreRules]:
        return rules_stamp(self.root), IgnoreRules(self.root, self._excludes)

    def _answer(self, look: Callable[[], T]) -> T:
        """What a look at the vault's own folder found, if it comes back in time."""
        try:
            return self._looking.run("", look, LOOK_SECONDS)
        except GaveUp as error:
            raise no_answer(self.root) from error

    def _walk_by(self, rules: IgnoreRules) -> Walk:
        return Walk(self.root, rules, follow=self._follow, patience=self._looking)

    def excluded_by(self, path: str) -> str | None:
        """The rule that keeps a vault-relative path from being a note, in words; None for a note.

        Also for paths that do not exist (any more).
        """
        if found := self._rules.reason(path):
            return found
        if path[-3:].lower() != SUFFIX:
            return "not a note: its name does not end in .md"
        return self._walk.symlink_reason(self.disk_path(path))

    def left_out(self, path: str) -> str | None:
        """Why a vault-relative path is no note now: a rule, or what is there; None for a note."""
        found = self.excluded_by(path) or self._walk.why_no_note(path)
        if found is None and self._follow and self._walk.leaves(path):
            # Of several links to one folder outside the vault, one is followed.
            seen = any(each == path for each, _ in self.scan())
            found = None if seen else "its folder is reached over another symlink"
        return found

    def excluded_folder_by(self, path: str) -> str | None:
        """The rule that keeps a folder and all that is in it out; None when it may hold notes."""
        if not path:
            return None
        return self._rules.folder_reason(path) or self._walk.symlink_reason(self.disk_path(path))

    def read(
        self, path: str, limit: int = MAX_NOTE_BYTES, patience: float = READ_SECONDS
    ) -> tuple[bytes, bool]:
        """A note's bytes, at most `limit`, and whether there were more.

        Raises NotFound when it is gone, VaultError when it is there and cannot be read, or not
        within `patience` seconds.
        """
        try:
            return self._patience.run(path, lambda: self._read(path, limit), patience)
        except GaveUp as error:
            raise VaultError(
                f"The note {path} could not be read in time.",
                hint="Is its drive connected? Reading it is tried again later.",
                code="read_timeout",
            ) from error

    def _read(self, path: str, limit: int) -> tuple[bytes, bool]:
        disk = self.disk_path(path)
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
                # Room for all that is asked for is taken first: 20 MB for every small note.
                raw = file.read(limit + 1 if status.st_size > limit else -1)
        except FileNotFoundError as error:
            raise NotFound(f"The note {path} is not in the vault any more.") from error
        except OSError as error:
            raise unreadable(path, error) from error
        return raw[:limit], len(raw) > limit

    def fingerprint(self, path: str) -> Fingerprint | None:
        """The fingerprint of a note as it is now; None when it is gone or left the vault.

        Raises VaultError where a folder that it is in may not be looked into.
        """
        status = self._stat(self.disk_path(path))
        return fingerprint_of(status) if status is not None else None

    def is_there(self, path: str) -> bool:
        """Whether the note is still in the vault, as far as may be seen."""
        try:
            return self.fingerprint(path) is not None
        except VaultError:
            return True

    def is_untouched(self, path: str, known: Fingerprint) -> bool:
        """Whether the file is the very one that was indexed; one look, for every hit of a search.

        A file that passes is where it was when it was let in, so no rule is asked again.
        """
        try:
            status = os.stat(self.disk_path(path))  # noqa: PTH116
        except (OSError, ValueError):
            return False
        return fingerprint_of(status) == known

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
        if "\\" in client_path and os.path.isfile(self.disk_path(client_path)):  # noqa: PTH113
            path = client_path
        self._check_resolved(path)
        return path

    def _check_resolved(self, path: str) -> None:
        try:
            inside = self._walk.inside(os.path.realpath(self.disk_path(path)))
        except (OSError, ValueError) as error:
            raise UsageError(f"The path cannot be used: {error}.") from error
        if inside is None and not self._follow:
            raise PathOutsideVault("The path leaves the vault over a symlink.")
        if inside and any(segment.startswith(".") for segment in inside.split("/")):
            raise ReservedFolder("The path leads to a hidden folder, which holds no notes.")

    def disk_path(self, path: str) -> str:
        """Where a vault-relative path is on disk."""
        return self._walk.disk_path(path)

    def _stat(self, disk: str) -> os.stat_result | None:
        """The status of a regular file inside the vault, else None; VaultError if kept from us."""
        try:
            status = os.stat(disk)  # noqa: PTH116
        except PermissionError as error:
            raise unreadable(Path(disk).relative_to(self.root).as_posix(), error) from error
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(status.st_mode) or self._walk.symlink_reason(disk):
            return None
        return status


def unreadable(path: str, error: OSError) -> VaultError:
    """What is said of a note that is there and cannot be read."""
    return VaultError(
        f"The note {path} cannot be read: {error.strerror or error}.",
        hint="Check the file's permissions, and those of the folders that it is in.",
        code="note_unreadable",
    )


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
