"""Files that are either whole or not there: write beside, flush to disk, rename."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from khiip_indexer.errors import StorageError

TEMPORARY = ".tmp"
_CHUNK = 1 << 20
_SMALL = 64 * 1024


def write_file(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step; a crash leaves the old file or the new one."""
    write_through(path, lambda temporary: _write_bytes(temporary, data))


def write_through(path: Path, produce: Callable[[Path], None]) -> None:
    """Let `produce` write a sibling file, flush it, then rename it over `path`."""
    # Two threads of one process may write the same file at once: each needs a place of its own.
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(4).hex()}{TEMPORARY}")
    try:
        with translated(path):
            produce(temporary)
            _flush(temporary)
            temporary.replace(path)
            _flush_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _write_bytes(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    # Windows cannot open a folder; there the rename itself is as durable as it gets.
    with suppress(PermissionError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep_temporaries(folder: Path) -> None:
    """Remove what a killed process was still writing; only the folder's one writer may."""
    for path in folder.glob(f"*{TEMPORARY}"):
        path.unlink(missing_ok=True)


def digest(path: Path) -> tuple[int, str]:
    """The length in bytes and the SHA-256 of a file, read in pieces."""
    hasher = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            hasher.update(piece)
            size += len(piece)
    return size, hasher.hexdigest()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the system's refusals to write into a sentence that names the place, not a temp file."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def storage_error(error: OSError, path: Path) -> StorageError:
    """The sentence for a failed write below `path`'s folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full(path)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return not_writable(path)
    return place_taken(path) or StorageError(
        f"Writing {path.name} failed: {error.strerror or error}."
    )


def place_taken(path: Path) -> StorageError | None:
    """The sentence for a file that stands where a folder above `path` should be, if one does."""
    place = next((each for each in path.parents if each.is_file()), None)
    if place is None:
        return None
    return StorageError(
        f"The index needs a folder at {place}, and a file is there.",
        hint="Rename or delete that file, or choose another place with --state-dir.",
        code="index_place_taken",
    )


def not_writable(path: Path) -> StorageError:
    """The sentence for a folder that only others may write."""
    return StorageError(
        f"The index folder {path.parent} may not be written.",
        hint="Check its permissions, or choose another place with --state-dir.",
        code="index_not_writable",
    )


def disk_full(path: Path) -> StorageError:
    """The sentence for a full disk."""
    return StorageError(
        f"no space left on {mount_of(path)} while writing the index; "
        "the previous index is unchanged",
        hint="Free some space and run khiipd reindex again: it goes on where it stopped.",
        code="disk_full",
    )


def is_full(folder: Path) -> bool:
    """Whether there is no room left for even a small file."""
    try:
        return shutil.disk_usage(folder).free < _SMALL
    except OSError:
        return False


def mount_of(path: Path) -> Path:
    """The mount point that holds `path`."""
    place = path.resolve()
    while not place.is_mount() and place != place.parent:
        place = place.parent
    return place
