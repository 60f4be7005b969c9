"""What git says about a vault's repository: its top, its hooks, what it would show as changed."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.errors import KhiipError

TIMEOUT_SECONDS = 30


class GitError(KhiipError):
    """Git is missing, refuses, or the vault is in no repository."""

    code = "git_failed"


@dataclass(frozen=True, slots=True)
class Repository:
    """Absolute paths: the top of the work tree, the hooks folder, the local list of ignored files.

    `shared` is true for a hooks folder outside the repository, which others use as well.
    """

    top: Path
    hooks: Path
    exclude: Path
    shared: bool
    in_work_tree: bool

    def is_tracked(self, path: Path) -> bool:
        """Whether git keeps this file, so that a change to it would be one to commit."""
        return self.in_work_tree and bool(_git(self.top, "ls-files", "-z", "--", str(path)))

    def is_ignored(self, path: Path) -> bool:
        """Whether git passes over this file, there or not."""
        if not self.in_work_tree:
            return True
        return _run(self.top, "check-ignore", "-q", "--", str(path)).returncode == 0


def find_repository(vault: Path) -> Repository:
    """The repository that holds the vault; raises GitError with what git says."""
    top = Path(_line(vault, "--show-toplevel")).resolve()
    common = _absolute(top, _line(top, "--git-common-dir"))
    # Asked at the top, because git gives `core.hooksPath` as it is written: relative to the top.
    hooks = _absolute(top, _line(top, "--git-path", "hooks"))
    if hooks.exists() and not hooks.is_dir():
        raise GitError(
            f"The hooks of this repository are turned off: core.hooksPath is {hooks}.",
            hint="Give it a folder: git config core.hooksPath .git/hooks",
        )
    inside = hooks.is_relative_to(common)
    below = hooks.is_relative_to(top)
    return Repository(
        top,
        hooks,
        exclude=_absolute(top, _line(top, "--git-path", "info/exclude")),
        shared=not (inside or below),
        in_work_tree=below and not inside,
    )


def _absolute(top: Path, said: str) -> Path:
    return Path(os.path.realpath(top / said))


def _line(folder: Path, *question: str) -> str:
    return os.fsdecode(_git(folder, "rev-parse", *question).removesuffix(b"\n"))


def _git(folder: Path, *arguments: str) -> bytes:
    done = _run(folder, *arguments)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitError(
            f"Git does not help with {folder}: {said[0] if said else 'it gave no reason'}.",
            hint="Hooks need a vault inside a git repository: git init makes one.",
        )
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(  # noqa: S603 -- fixed program, arguments are ours
            ["git", *arguments],  # noqa: S607 -- whichever git the person uses
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = "is not installed" if isinstance(error, FileNotFoundError) else "does not answer"
        raise GitError(f"Git {reason}.", hint="Install git, or see whether it works.") from error
