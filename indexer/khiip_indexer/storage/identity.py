"""Which file it is that a path leads to: another one may have taken its place meanwhile."""

from __future__ import annotations

from pathlib import Path

# (device, inode); (0, 0) where the system does not number its files.
Identity = tuple[int, int]


def identity(path: Path) -> Identity | None:
    """Which file or folder is there now; None when none is. Raises OSError where it is hidden."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (status.st_dev, status.st_ino) if status.st_ino else (0, 0)


def is_still(path: Path, known: Identity | None) -> bool:
    """Whether the path leads to the file that it led to; where nobody can tell, it does.

    A file that somebody holds open keeps its number, so that no new one can have it.
    """
    try:
        now = identity(path)
    except OSError:
        return known is not None
    return now is not None and known is not None and (now == known or (0, 0) in (now, known))
