"""Tells in one look whether a vault is as it was when the last headless run left it.

A git hook or a timer runs `reindex` far more often than anything changes. This look costs one
walk and one comparison: no database, no parser, and no import beyond the standard library's
smallest. It only ever says "the same" or "look properly".
"""

from __future__ import annotations

import marshal
import os
import time

from khiip_indexer.disk import git_place
from khiip_indexer.disk.git_place import stamp as _stamp

SEEN_FILE = "seen"
_FORMAT = 3
# Files whose change may change which notes are indexed, or how.
_RULES = (".obsidian/app.json", ".khiipignore")
_INDEX_FILES = ("cache.sqlite", "manifest.json", ".hnsw")
# A file written so shortly before the look may be written again without its time showing it.
_RACY_NS = 2_000_000_000

Look = tuple[object, ...]


def look(vault: str, state: str, config: str, made_by: str) -> Look | None:
    """Everything on disk that an index depends on; None when one look cannot tell.

    `config` is the user's config file, there or not; `made_by` says what the index's files are
    made by. Symlinks and folders that cannot be opened need the proper scan.
    """
    files: dict[str, tuple[int, int, int, int]] = {}
    folders = [("", vault)]
    try:
        while folders:
            prefix, folder = folders.pop()
            if not _read_folder(prefix, folder, files, folders):
                return None
        git = git_place.marks(vault)
        rules = (_stamp(config), *(_stamp(f"{vault}/{name}") for name in _RULES))
        index = _index(state)
    except OSError:
        return None
    # A folder is listed in whatever order the system likes; for one that nobody touched it is
    # the same order, and where it is not, a proper look costs little.
    return (_FORMAT, made_by, vault, git, rules, index, files)


def _read_folder(
    prefix: str,
    folder: str,
    files: dict[str, tuple[int, int, int, int]],
    folders: list[tuple[str, str]],
) -> bool:
    # Asking relative to the open folder spares the kernel walking the whole path for each file.
    handle = os.open(folder, os.O_RDONLY)
    try:
        with os.scandir(handle) as entries:
            for entry in entries:
                name = entry.name
                if name[-3:] == ".md":
                    status = entry.stat(follow_symlinks=False)
                    if status.st_mode & 0o170000 != 0o100000:
                        return False
                    files[prefix + name] = (
                        status.st_size,
                        status.st_mtime_ns,
                        status.st_ctime_ns,
                        status.st_ino,
                    )
                elif name[0] == "." or name == "node_modules":
                    if name.endswith(".icloud"):
                        return False
                elif entry.is_symlink() or name[-3:].lower() == ".md":
                    return False
                elif entry.is_dir(follow_symlinks=False):
                    folders.append((f"{prefix}{name}/", f"{folder}/{name}"))
    finally:
        os.close(handle)
    return True


def _index(state: str) -> tuple[object, ...]:
    """The index's own files, so that one that was damaged or deleted is looked into."""
    names = [name for name in os.listdir(state) if name.endswith(_INDEX_FILES)]  # noqa: PTH208
    return tuple((name, _stamp(f"{state}/{name}")) for name in sorted(names))


def remember(state: str, before: Look | None, after: Look | None, code: int, said: str) -> None:
    """Keep what a finished run saw, if nothing changed while it ran.

    `before` and `after` are looks taken around the run (only the index itself may differ between
    them), `code` and `said` its exit code and summary.
    """
    if before is None or after is None or before[:-2] != after[:-2] or before[-1] != after[-1]:
        return
    latest = max((seen[1] for seen in after[-1].values()), default=0)  # type: ignore[attr-defined]
    if latest > time.time_ns() - _RACY_NS:
        return
    path = os.path.join(state, SEEN_FILE)  # noqa: PTH118
    temporary = f"{path}.{os.getpid()}.tmp"
    # No flush to disk: a file cut short by a crash is only a reason to look properly.
    with open(temporary, "wb") as file:  # noqa: PTH123
        file.write(f"{code} {said}\n".encode() + _bytes(after))
    os.replace(temporary, path)  # noqa: PTH105


def _bytes(seen: Look) -> bytes:
    # Version 2 keeps no references, so equal values give equal bytes.
    return marshal.dumps(seen, 2)  # type: ignore[arg-type]


def unchanged(state: str, now: Look | None) -> tuple[int, str] | None:
    """The last run's exit code and summary when it saw just what `now` shows; else None."""
    path = os.path.join(state, SEEN_FILE)  # noqa: PTH118
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            head, _, known = file.read().partition(b"\n")
        # Compared as bytes and never loaded: a synced folder's files are anybody's.
        if now is None or known != _bytes(now):
            return None
        code, _, said = head.decode().partition(" ")
        os.utime(path)  # the vault was looked at now: `status` shows it
        return int(code), said
    except (OSError, ValueError):
        return None


def looked_at(state: str) -> float | None:
    """When one look last found everything unchanged (seconds since 1970); None if never."""
    try:
        return os.stat(os.path.join(state, SEEN_FILE)).st_mtime  # noqa: PTH116, PTH118
    except OSError:
        return None
