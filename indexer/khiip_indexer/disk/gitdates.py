"""When git first saw each file, and when it last changed it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.disk import git, git_place
from khiip_indexer.disk.git import GitUnavailable
from khiip_indexer.disk.path_text import decode_path
from khiip_indexer.storage.lineage import Commit


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
    try:
        found = git_place.marks(str(vault))
    except OSError:
        found = ("", "")
    if found is not None and not found[1]:  # no HEAD to be read
        return (object(),)  # unlike every other: whoever asks must look properly
    return found


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
