"""The bearer key: one line in the user's own config folder, readable by nobody else."""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

from khiip_indexer.config import Homes
from khiip_indexer.errors import KhiipError, StorageError

KEY_FILE = "auth.toml"
PREFIX = "khiip_"
FILE_MODE = 0o600
FOLDER_MODE = 0o700
_USABLE = re.compile(r"[!-~]{16,256}")  # what a header can carry, and too long to guess
_HEADING = (
    "# The key that every request to khiipd must carry. `khiipd auth rotate` makes a new one."
)

Warn = Callable[[str], None]


class AuthError(KhiipError):
    """The key file is there and cannot be used."""

    code = "bad_key_file"


def key_path(homes: Homes) -> Path:
    """Where the key is kept, whether or not it has been made yet."""
    return homes.config / KEY_FILE


def load_or_make_key(homes: Homes, warn: Warn | None = None) -> str:
    """The user's key, made on first use; a file that others may read is repaired with a warning.

    `warn` takes one sentence (default: a line on stderr). Raises AuthError when the file holds
    no usable key, StorageError when it cannot be read or written.
    """
    return read_key(homes, warn) or _make_key(homes)


def read_key(homes: Homes, warn: Warn | None = None) -> str | None:
    """The key as stored, None when none was made yet."""
    path = key_path(homes)
    try:
        raw = path.read_bytes()
        _repair_mode(path, warn or _warn_on_stderr)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            f"The key file {path} cannot be read: {error.strerror}.",
            hint="Give yourself access to it, or delete it and run `khiipd auth show`.",
        ) from error
    return _parse(raw, path)


def rotate_key(homes: Homes) -> str:
    """Put a new key in the place of the old one, which is then worth nothing."""
    key = new_key()
    temporary = _write_beside(key_path(homes), key)
    try:
        temporary.replace(key_path(homes))
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _unwritable(key_path(homes), error) from error
    return key


def new_key() -> str:
    """`khiip_` and 43 URL-safe characters: 256 random bits."""
    import secrets

    return PREFIX + secrets.token_urlsafe(32)


def _make_key(homes: Homes) -> str:
    """Two processes that start together must end up with one key: the first to link it wins."""
    path = key_path(homes)
    key = new_key()
    temporary = _write_beside(path, key)
    try:
        os.link(temporary, path)
    except FileExistsError:
        key = _parse(path.read_bytes(), path)
    except OSError:  # a file system without hard links: the last one wins
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return key


def _write_beside(path: Path, key: str) -> Path:
    """The key in a temporary file that is private from its first moment on."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f'{_HEADING}\napi_key = "{key}"\n')
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise _unwritable(path, error) from error
    return temporary


def _parse(raw: bytes, path: Path) -> str:
    try:
        key = tomllib.loads(raw.decode("utf-8")).get("api_key")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _broken(path, str(error)) from error
    if not isinstance(key, str):
        raise _broken(path, 'there is no line api_key = "…"')
    if not _USABLE.fullmatch(key):
        raise _broken(path, "the key must be 16 to 256 letters, digits or signs, without blanks")
    return key


def _repair_mode(path: Path, warn: Warn) -> None:
    if os.name == "nt":  # Windows keeps access in lists, not in these bits
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        path.chmod(FILE_MODE)
        warn(f"The key file {path} was open to other users (mode {mode:04o}); it is now 0600.")


def _broken(path: Path, reason: str) -> AuthError:
    return AuthError(
        f"The key file {path} cannot be used: {reason}.",
        hint="Correct it, or run `khiipd auth rotate` for a new key.",
    )


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The key file {path} cannot be written: {error.strerror}.",
        hint="Give yourself write access to its folder, or set XDG_CONFIG_HOME.",
    )


def _warn_on_stderr(sentence: str) -> None:
    sys.stderr.write(f"khiipd: {sentence}\n")
