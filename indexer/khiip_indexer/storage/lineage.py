"""Which file an edit belongs to: a note keeps its history when it gets another name. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from khiip_indexer.storage.journal import Operation

# What git last did at a path: there, deleted, or gone to another name.
LIVE, GONE, MOVED = 0, 1, 2


class Change(NamedTuple):
    """What one commit did to a path; `same` is a rename that left the content alone.

    `merged` is no edit: a merge chose or joined what its branches hold.
    """

    operation: Operation | Literal["merged"]
    path: str
    from_path: str | None = None
    same: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit and what it did to the vault's notes.

    `at` is its author's time and `committed` when it was committed, in seconds since 1970;
    `session` is what its `Session-Id:` trailer says, `parent` the hash of its first parent, which
    is not stored.
    """

    at: int
    changes: tuple[Change, ...]
    hash: str = ""
    committed: int = 0
    author: str = ""
    subject: str = ""
    body: str = ""
    session: str | None = None
    merge: bool = False
    parent: str = ""


class Owner(NamedTuple):
    """Whose path it is: a file's number, what became of it there, and when git last took it in."""

    file: int
    state: int
    committed: int


class Lineage:
    """Follows files from path to path through commits, parents before children.

    `known` tells who owned a path before; what changed is in `owners`. Numbers of new files start
    at `next_file` and go on by `step`.
    """

    def __init__(
        self, known: Callable[[str], Owner | None], next_file: int = 1, step: int = 1
    ) -> None:
        self._known = known
        self._next = next_file
        self._step = step
        self.owners: dict[str, Owner] = {}

    def file_of(self, change: Change, committed: int) -> int | None:
        """The file that a change belongs to, which is remembered; None for what is no edit."""
        before = self.owner(change.path)
        latest = max(committed, before.committed if before else 0)
        if change.operation == "merged":
            if before is not None:
                self.owners[change.path] = before._replace(committed=latest)
            return None
        if change.operation == "renamed" and change.from_path is not None:
            file, state = self._renamed(change.from_path, committed), LIVE
        elif before is None or (before.state == MOVED and change.operation == "created"):
            file, state = self._new_file(), GONE if change.operation == "deleted" else LIVE
        else:
            file, state = before.file, _state_after(change, before)
        self.owners[change.path] = Owner(file, state, latest)
        return file

    def owner(self, path: str) -> Owner | None:
        """Whose path it is now."""
        return self.owners[path] if path in self.owners else self._known(path)

    def _renamed(self, path: str, committed: int) -> int:
        before = self.owner(path)
        file = before.file if before else self._new_file()
        latest = max(committed, before.committed if before else 0)
        self.owners[path] = Owner(file, MOVED, latest)
        return file

    def _new_file(self) -> int:
        file, self._next = self._next, self._next + self._step
        return file


def _state_after(change: Change, before: Owner) -> int:
    if before.state == MOVED:
        # On another branch the note still had this name; the merge brings that to the new one.
        return MOVED
    return GONE if change.operation == "deleted" else LIVE


def knows(owner: Owner | None, operation: Operation, at: int) -> bool:
    """Whether git already tells of an edit that the journal holds.

    `owner` is what git knows of the edit's path. A deletion or a rename is journaled when it is
    noticed, which for one that a pull brought is after its commit.
    """
    if owner is None:
        return False
    if operation == "deleted" and owner.state != LIVE:
        return True
    if operation == "renamed" and owner.state == LIVE:
        return True
    return at <= owner.committed
