"""When git first saw each file, and when it last changed it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.disk import git
from khiip_indexer.disk.git import GitUnavailable
from khiip_indexer.disk.path_text import decode_path
from khiip_indexer.storage.lineage import Commit

# Files of a repository that change when its history does, beside the current branch's own.
_MOVING = ("logs/HEAD", "packed-refs", "shallow", "reftable/tables.list")


class NoHistory(GitUnavailable):
    """Git answers, and there is no history to read: no commits, or a clone without the older."""


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository stands: its current commit, and where the vault is below its top."""

    head: str
    prefix: str


def in_repository(vault: Path) -> bool:
    """Whether a `.git` stands at the vault or above it: cheap, asked before git is."""
    return any((folder / ".git").exists() for folder in (vault, *vault.parents))


def stamp(vault: Path) -> tuple[object, ...] | None:
    """Changes whenever a commit is made, taken or checked out; a few looks instead of a process.

    None where there is no repository.
    """
    place = next((f / ".git" for f in (vault, *vault.parents) if (f / ".git").exists()), None)
    if place is None:
        return None
    try:
        if place.is_file():  # a worktree or a submodule: the file says where the rest is
            said = place.read_text("utf-8", "surrogateescape").partition(": ")[2].strip()
            place = place.parent / said
        head = (place / "HEAD").read_text("utf-8", "replace")
        reference = place / (head.partition(": ")[2].strip() or "HEAD")
    except (OSError, ValueError):
        return (object(),)  # unlike every other: whoever asks must look properly
    return (head, *(_changed(path) for path in (reference, *(place / name for name in _MOVING))))


def _changed(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def repository(vault: Path) -> Repository:
    """The repository that the vault is in, as it is now.

    Raises GitUnavailable also where there are no commits, and for a shallow clone: what was cut
    off would date every older note to the cut.
    """
    said = git.run(vault, "rev-parse", "--is-shallow-repository", "--show-prefix")
    shallow, _, prefix = said.decode("utf-8", "surrogateescape").partition("\n")
    if shallow == "true":
        raise NoHistory("this is a shallow clone, its history is cut off")
    try:
        head = git.run(vault, "rev-parse", "--verify", "-q", "HEAD").decode().strip()
    except GitUnavailable as error:
        raise NoHistory("the repository has no commits yet") from error
    return Repository(head, git.text(prefix.removesuffix("\n").encode("utf-8", "surrogateescape")))


def is_ancestor(vault: Path, older: str, newer: str) -> bool:
    """Whether `newer` grew out of `older`, so that only the commits between need reading."""
    try:
        git.run(vault, "merge-base", "--is-ancestor", older, newer)
    except GitUnavailable:
        return False
    return True


def uncommitted(vault: Path, among: Collection[str] = ()) -> set[str]:
    """Paths whose content on disk is not what git last committed; `among` these few, or of all."""
    asked = ("--", *(decode_path(path) for path in among)) if among else ()
    raw = git.run(
        vault, "--literal-pathspecs",
        "ls-files", "-z", "--modified", "--others", "--exclude-standard", *asked,
    )  # fmt: skip
    return {git.text(name) for name in raw.split(b"\0") if name}


Ages = MutableMapping[str, tuple[int, int]]


def fold(ages: Ages, history: Iterable[Commit]) -> set[str]:
    """Bring first and last commit times up to date in place; returns the paths that changed."""
    touched: set[str] = set()
    for commit in history:
        for change in commit.changes:
            if change.operation in ("deleted", "merged"):
                continue
            path, source = change.path, change.from_path
            known = ages.get(path)
            if source is not None and (before := ages.pop(source, None)):
                known = before
                touched.add(source)
            first, last = known or (commit.at, commit.at)
            ages[path] = (min(first, commit.at), max(last, commit.at))
            touched.add(path)
    return touched
