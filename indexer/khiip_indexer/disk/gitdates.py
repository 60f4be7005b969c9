"""When git first saw each file, and when it last changed it."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.disk.path_text import decode_path

_TIMEOUT_SECONDS = 120
# Never let git wait for a person, run a hook's pager, or quote a name (-z gives raw bytes).
_GIT = ("git", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "--no-optional-locks")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit's author time (seconds since 1970) and what it did to paths below the vault."""

    time: int
    changes: tuple[tuple[str, ...], ...]


class GitUnavailable(Exception):
    """Git is missing, refuses, or this is no repository; the text is git's first line."""


def in_repository(vault: Path) -> bool:
    """Whether a `.git` stands at the vault or above it: cheap, asked before git is."""
    return any((folder / ".git").exists() for folder in (vault, *vault.parents))


def stamp(vault: Path) -> tuple[object, ...] | None:
    """Changes whenever a commit is made, taken or checked out; a few looks instead of a process.

    None where there is no repository.
    """
    git = next((f / ".git" for f in (vault, *vault.parents) if (f / ".git").exists()), None)
    if git is None:
        return None
    try:
        if git.is_file():  # a worktree or a submodule: the file says where the rest is
            git = git.parent / git.read_text("utf-8", "surrogateescape").partition(": ")[2].strip()
        head = (git / "HEAD").read_text("utf-8", "replace")
        reference = git / (head.partition(": ")[2].strip() or "HEAD")
    except (OSError, ValueError):
        return (object(),)  # unlike every other: whoever asks must look properly
    return (head, *(_changed(path) for path in (reference, git / "logs/HEAD", git / "packed-refs")))


def _changed(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def head(vault: Path) -> str | None:
    """The current commit, or None before the first one."""
    try:
        return _run(vault, "rev-parse", "--verify", "-q", "HEAD").decode().strip()
    except GitUnavailable:
        return None


def is_shallow(vault: Path) -> bool:
    """Whether history was cut off: first commits cannot be known then."""
    return _run(vault, "rev-parse", "--is-shallow-repository").strip() == b"true"


def is_ancestor(vault: Path, older: str, newer: str) -> bool:
    """Whether `newer` grew out of `older`, so that only the commits between need reading."""
    try:
        _run(vault, "merge-base", "--is-ancestor", older, newer)
    except GitUnavailable:
        return False
    return True


def uncommitted(vault: Path, among: Collection[str] = ()) -> set[str]:
    """Paths whose content on disk is not what git last committed; `among` these few, or of all."""
    asked = ("--", *(decode_path(path) for path in among)) if among else ()
    raw = _run(
        vault, "--literal-pathspecs",
        "ls-files", "-z", "--modified", "--others", "--exclude-standard", *asked,
    )  # fmt: skip
    return {_text(name) for name in raw.split(b"\0") if name}


def commits(vault: Path, since: str | None, until: str) -> Iterator[Commit]:
    """Commits that touched the vault, oldest first; renames come as ("R", old, new)."""
    revisions = f"{since}..{until}" if since else until
    raw = _run(
        vault, "log", "--reverse", "-z", "--format=%x01%at", "--name-status", "-M",
        "--diff-filter=AMRCT", "--relative", revisions, "--",
    )  # fmt: skip
    for chunk in raw.split(b"\x01")[1:]:
        yield _commit(chunk)


def _commit(chunk: bytes) -> Commit:
    fields = iter(chunk.split(b"\0"))
    time = int(next(fields))
    changes: list[tuple[str, ...]] = []
    for field in fields:
        status = field.strip().decode("ascii", "replace")[:1]
        if status in ("R", "C"):
            changes.append((status, _text(next(fields, b"")), _text(next(fields, b""))))
        elif status:
            changes.append((status, _text(next(fields, b""))))
    return Commit(time, tuple(changes))


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


Ages = dict[str, tuple[int, int]]


def fold(ages: Ages, history: Iterable[Commit]) -> set[str]:
    """Bring first and last commit times up to date in place; returns the paths that changed."""
    touched: set[str] = set()
    for commit in history:
        for change in commit.changes:
            path = change[-1]
            known = ages.get(path)
            if change[0] == "R" and (before := ages.pop(change[1], None)):
                known = before
                touched.add(change[1])
            first, last = known or (commit.time, commit.time)
            ages[path] = (min(first, commit.time), max(last, commit.time))
            touched.add(path)
    return touched


def _run(vault: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 -- fixed program, arguments are ours
            [*_GIT, "-C", str(vault), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitUnavailable(str(error)) from error
    if done.returncode != 0:
        line = done.stderr.decode("utf-8", "replace").partition("\n")[0]
        raise GitUnavailable(line or f"git ended with {done.returncode}")
    return done.stdout
