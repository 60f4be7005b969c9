"""Puts the hooks of a vault into its repository, beside what is there, and takes them out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from khiip_indexer.errors import KhiipError, StorageError
from khiip_sidecar.githooks.repository import Repository
from khiip_sidecar.githooks.script import (
    ASIDE,
    BARE,
    CHAIN,
    HOOKS,
    Target,
    block,
    find_block,
    is_shell,
    marked,
    with_block,
    without_block,
)

State = Literal["installed", "outdated", "not executable", "missing"]


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook as it is: `chained` when it also runs one that was moved aside."""

    name: str
    state: State
    chained: bool


@dataclass(frozen=True, slots=True)
class _Change:
    """What one hook file becomes; `aside` moves the file that is there out of the way first."""

    path: Path
    content: bytes
    mode: int
    aside: bool = False


def install(repository: Repository, target: Target) -> None:
    """Write the three hooks, or bring them up to date; nothing is written unless all can be."""
    changes = [
        change
        for name in HOOKS
        if (change := _planned(repository.hooks / name, block(name, target), target.label))
    ]
    _refuse_tracked(repository, changes)
    with _translated(repository.hooks):
        repository.hooks.mkdir(parents=True, exist_ok=True)
        for change in changes:
            if change.aside:
                change.path.rename(aside(change.path))
            _write(change.path, change.content, change.mode)
        _hide(repository, target.label)


def uninstall(repository: Repository, target: Target) -> list[str]:
    """Take the block of this vault out of every hook; gives the names of those that had it."""
    taken = []
    with _translated(repository.hooks):
        for name in HOOKS:
            path = repository.hooks / name
            script = _read(path)
            if script is not None and find_block(script, target.label):
                _restore(path, without_block(script, target.label))
                taken.append(name)
        _show(repository, target.label)
    return taken


def look(repository: Repository, target: Target) -> list[Hook]:
    """How each of the three hooks stands; changes nothing."""
    with _translated(repository.hooks):
        return [_hook(repository.hooks / name, target) for name in HOOKS]


def aside(path: Path) -> Path:
    """Where a hook goes that lines of shell cannot be put into."""
    return path.with_name(path.name + ASIDE)


def _hook(path: Path, target: Target) -> Hook:
    script = _read(path) or b""
    found = find_block(script, target.label)
    chained = found is not None and os.path.lexists(aside(path)) and CHAIN[10:] in script
    if found is None:
        return Hook(path.name, "missing", chained)
    if not os.access(path, os.X_OK):
        return Hook(path.name, "not executable", chained)
    same = script[found[0] : found[1]] == block(path.name, target)
    return Hook(path.name, "installed" if same else "outdated", chained)


def _planned(path: Path, added: bytes, label: str) -> _Change | None:
    """None when the hook is as it should be."""
    with _translated(path):
        if not os.path.lexists(path):
            return _Change(path, with_block(BARE, added), 0o755)
        script = _read(path)
        if script is None:
            raise StorageError(f"{path} is no file.", hint="Move it away.", code="hook_in_the_way")
        if find_block(script, label):
            wanted = with_block(without_block(script, label), added)
            mode = stat.S_IMODE(path.stat().st_mode) | 0o111
            same = wanted == script and os.access(path, os.X_OK)
            return None if same else _Change(path, wanted, mode)
        # One that may not run is one that somebody turned off; a link leads to a file of others.
        if is_shell(script) and os.access(path, os.X_OK) and not path.is_symlink():
            return _Change(path, with_block(script, added), stat.S_IMODE(path.stat().st_mode))
        if os.path.lexists(aside(path)):
            raise StorageError(
                f"{aside(path)} is in the way: the hook {path.name} would be kept there.",
                hint="Move one of the two away.",
                code="hook_in_the_way",
            )
        return _Change(path, with_block(CHAIN, added), 0o755, aside=True)


def _restore(path: Path, script: bytes) -> None:
    """The file that was there before; a hook that others have changed since keeps their lines."""
    if script == BARE:
        path.unlink()
    elif script == CHAIN and os.path.lexists(aside(path)):
        aside(path).replace(path)
    else:
        _write(path, script, stat.S_IMODE(path.stat().st_mode))


def _read(path: Path) -> bytes | None:
    """None for what is no file; a link to nothing is an empty script."""
    if path.is_symlink() and not path.exists():
        return b""
    return path.read_bytes() if path.is_file() else None


def _write(path: Path, content: bytes, mode: int) -> None:
    """In one step, so that git never runs half a hook."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.khiip")
    try:
        temporary.write_bytes(content)
        temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _refuse_tracked(repository: Repository, changes: list[_Change]) -> None:
    for change in changes:
        if repository.is_tracked(change.path):
            raise KhiipError(
                f"The hook {change.path} is under version control; it stays as it is.",
                hint="Call `khiipd reindex` from it yourself, in the background.",
                code="hook_tracked",
            )


def _hide(repository: Repository, label: str) -> None:
    """Hooks in the work tree must not show up in `git status`."""
    _show(repository, label)
    paths = [repository.hooks / name for name in HOOKS]
    paths += [aside(path) for path in paths if os.path.lexists(aside(path))]
    seen = [path for path in paths if not repository.is_ignored(path)]
    if not seen:
        return
    names = [path.relative_to(repository.top).as_posix() for path in seen]
    lines = marked(label, ["/" + _pattern(name) for name in names])
    known = repository.exclude.read_bytes() if repository.exclude.is_file() else b""
    repository.exclude.parent.mkdir(parents=True, exist_ok=True)
    _write(repository.exclude, with_block(known, lines), 0o644)


def _show(repository: Repository, label: str) -> None:
    if not repository.exclude.is_file():
        return
    known = repository.exclude.read_bytes()
    rest = without_block(known, label)
    if not rest:
        repository.exclude.unlink()
    elif rest != known:
        _write(repository.exclude, rest, stat.S_IMODE(repository.exclude.stat().st_mode))


def _pattern(name: str) -> str:
    return "".join("\\" + char if char in "\\*?[ " else char for char in name)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"{error.filename or path}: {error.strerror or error}.",
            hint="Check the permissions of the repository's hooks folder.",
        ) from error
