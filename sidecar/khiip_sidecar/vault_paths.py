"""Paths that a client sends: none may leave the vault or name a folder without notes."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote

from khiip_indexer.config import Settings
from khiip_indexer.errors import PathOutsideVault, ReservedFolder, UsageError

_DRIVE = re.compile(r"[A-Za-z]:")
_HINT = "Give a path inside the vault, with `/` between its parts."


def checked_path(settings: Settings, name: str, text: str) -> str:
    """The vault-relative path that `text` means, without a leading `./` or trailing `/`.

    Raises PathOutsideVault or ReservedFolder. Every reading that some system might make of it is
    checked (backslashes as separators, percent escapes), and what it resolves to on the disk.
    """
    if "\0" in text:
        raise UsageError(f"`{name}` holds a NUL character.", hint=_HINT)
    plainly = {text, unquote(text)}
    readings = plainly | {reading.replace("\\", "/") for reading in plainly}
    if any(_leads_out(reading) for reading in readings):
        raise _outside(name)
    if any(_is_reserved(reading) for reading in readings):
        raise ReservedFolder(f"`{name}` names a folder that holds no notes.", hint=_HINT)
    plain = posixpath.normpath(text).rstrip("/")
    _check_resolved(settings, name, plain)
    return "" if plain == "." else plain


def _leads_out(text: str) -> bool:
    if text.startswith(("/", "~")) or _DRIVE.match(text):
        return True
    return ".." in posixpath.normpath(text).split("/")


def _is_reserved(text: str) -> bool:
    parts = posixpath.normpath(text).split("/")
    return any(part.startswith(".") and part != "." for part in parts)


def _check_resolved(settings: Settings, name: str, plain: str) -> None:
    """A symlink may lead out although every part of the path looks harmless."""
    if settings.follow_symlinks:
        return
    try:
        target = Path(settings.vault, plain).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links; a name too long
        raise UsageError(f"`{name}` cannot be a path in this vault.", hint=_HINT) from error
    if not target.is_relative_to(settings.vault):
        raise _outside(name)


def _outside(name: str) -> PathOutsideVault:
    return PathOutsideVault(f"`{name}` leads out of the vault.", hint=_HINT)
