"""The history of a vault that is a folder of its repository and once was another folder of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from khiip_indexer.disk import git, gitlog
from khiip_indexer.storage.lineage import Change, Commit


class Moved(NamedTuple):
    """A path of the repository and the one that it had before the commit; either may be None."""

    source: str | None
    target: str | None
    same: bool


def commits(vault: Path, prefix: str, until: str) -> Iterator[Commit]:
    """All commits that touched the vault, parents first, also those under its former folder.

    `prefix` is the vault's folder below the repository's top, with `/`, or empty. Raises
    GitUnavailable.
    """
    found = gitlog.commits(vault, None, until, prefix)
    first = next(found, None)
    if first is None:
        return
    moves = _moves(vault, first) if prefix and first.parent and not first.merge else []
    before = former_folder(moves, prefix)
    if before is None:
        yield first
    else:
        yield from commits(vault, before, first.parent)
        yield replace(first, changes=tuple(changes_of_move(moves, before, prefix)))
    yield from found


def _moves(vault: Path, commit: Commit) -> list[Moved]:
    fields = git.fields(
        vault, "diff-tree", "-r", "-M", "-l1000", "-z", "--name-status", "--no-commit-id",
        commit.hash, "--", ":(top,icase)*.md",
    )  # fmt: skip
    return [_moved(status, fields) for status in fields if status]


def _moved(status: bytes, fields: Iterator[bytes]) -> Moved:
    path = git.text(next(fields, b""))
    if status[:1] == b"R":
        return Moved(path, git.text(next(fields, b"")), status == b"R100")
    return Moved(None if status == b"A" else path, None if status == b"D" else path, same=False)


def former_folder(moves: list[Moved], prefix: str) -> str | None:
    """The folder that most of what a commit brought into `prefix` came from, as it lay there.

    None when it did not come from one. Pure.
    """
    arrived = [move for move in moves if move.target and move.target.startswith(prefix)]
    folders: Counter[str] = Counter()
    for move in arrived:
        inner = str(move.target)[len(prefix) :]
        if move.source and move.source != move.target and move.source.endswith(inner):
            folders[move.source[: -len(inner)]] += 1
    for folder, count in folders.most_common(1):
        if 2 * count > len(arrived) and folder[-1:] in ("", "/"):
            return folder
    return None


def changes_of_move(moves: list[Moved], before: str, prefix: str) -> Iterator[Change]:
    """What the commit that moved the vault did to its notes, the move itself aside. Pure."""
    for move in moves:
        source = _inside(move.source, before)
        target = _inside(move.target, prefix)
        if target is not None and source is not None:
            if target != source:
                yield Change("renamed", target, source, same=move.same)
            elif not move.same:
                yield Change("modified", target)
        elif target is not None:
            yield Change("created", target)
        elif source is not None and move.target != move.source:
            yield Change("deleted", source)


def _inside(path: str | None, folder: str) -> str | None:
    return path[len(folder) :] if path is not None and path.startswith(folder) else None
