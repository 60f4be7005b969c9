"""Which notes git itself took out of the work tree: a branch left behind is no lost drive."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

from khiip_indexer.disk import git, gitdates
from khiip_indexer.disk.git import GitUnavailable

_log = logging.getLogger(__name__)

# More steps of HEAD than these since the last look, and it is asked whether the notes are gone.
_MOST_STEPS = 50
# How the reflog begins where git changed files to fit HEAD. With a commit it is the other way
# round: a tool that commits every ten minutes would commit the loss of a drive as well. The
# steps of a rebase that repeat commits are such commits again.
_BY_GIT = re.compile(
    r"(?:checkout|merge|pull|reset|rebase)\b"
    r"(?![^:]*\((?:pick|squash|fixup|edit|reword|continue|merge)\))"
)


def taken_away(vault: Path, since: str) -> set[str]:
    """Paths that checkouts, merges, pulls and resets took out of HEAD's tree after `since`.

    `since` is the commit that HEAD was at. Empty where git cannot tell, and in the midst of a
    rebase, which may bring them back.
    """
    if not gitdates.in_repository(vault):
        return set()
    try:
        if _is_rebasing(vault):
            return set()
        gone: set[str] = set()
        for before, after in _steps(vault, since):
            gone |= _deleted(vault, before, after)
        return gone - _tree(vault) if gone else gone
    except GitUnavailable as error:
        _log.warning("git could not tell why notes are gone: %s", error)
        return set()


def _is_rebasing(vault: Path) -> bool:
    names = ("--git-path", "rebase-merge", "--git-path", "rebase-apply")
    said = git.run(vault, "rev-parse", *names).decode("utf-8", "surrogateescape")
    return any((vault / path).exists() for path in said.splitlines())


def _steps(vault: Path, since: str) -> Iterator[tuple[str, str]]:
    """HEAD before and after each step that was git's own doing; none when `since` is not found."""
    raw = git.run(
        vault, "log", "-g", "-z", "--format=%H%x00%gs", f"--max-count={_MOST_STEPS}", "HEAD", "--"
    )
    fields = raw.decode("utf-8", "replace").split("\0")
    heads, said = fields[0:-1:2], fields[1::2]
    if since in heads:
        for at in range(heads.index(since)):
            if _BY_GIT.match(said[at]):
                yield heads[at + 1], heads[at]


def _deleted(vault: Path, before: str, after: str) -> set[str]:
    return _names(
        vault, "diff-tree", "-r", "-z", "--no-renames", "--diff-filter=D", "--name-only",
        "--relative", before, after,
    )  # fmt: skip


def _tree(vault: Path) -> set[str]:
    return _names(vault, "ls-tree", "-r", "-z", "--name-only", "HEAD")


def _names(vault: Path, *arguments: str) -> set[str]:
    """Paths relative to the vault, and only those below it."""
    return {git.text(name) for name in git.run(vault, *arguments).split(b"\0") if name}
