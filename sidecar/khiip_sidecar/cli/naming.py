"""Which capture a person means: by its id, or by the note's path."""

from __future__ import annotations

import os
from pathlib import Path

from khiip_indexer.config import Settings
from khiip_indexer.disk.path_text import encode_path
from khiip_indexer.errors import NotFound
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import CaptureRecord
from khiip_sidecar.texts import clean_text


def capture_id(settings: Settings, name: str) -> str:
    """The id behind a name: a path in the vault, a path from the shell's folder, or an id.

    Raises NotFound for a path without a capture; whether an id is known, who is asked will say.
    """
    if not looks_like_path(name):
        return name
    with VaultIndex.open(settings) as index:
        return named_record(index, settings, name).id


def named_record(index: VaultIndex, settings: Settings, name: str) -> CaptureRecord:
    """The capture with this id or path. Raises NotFound."""
    record = index.capture(clean_text(name)) or _find_by_path(index, settings, name)
    if record is None:
        raise NotFound(
            f"No capture has the id or path {name}.",
            hint="`khiipd list` shows what there is; a new note is known after `khiipd reindex`.",
        )
    return record


def _find_by_path(index: VaultIndex, settings: Settings, name: str) -> CaptureRecord | None:
    """The capture of a note's path, from the vault's root or from where the shell is."""
    for path in candidate_paths(settings.vault, name):
        if (record := index.capture_at(path)) is not None:
            return record
    return None


def looks_like_path(name: str) -> bool:
    """Whether a name is a note's path rather than an id."""
    return "/" in name or os.sep in name or name.lower().endswith(".md")


def candidate_paths(vault: Path, name: str) -> list[str]:
    """Vault-relative paths that a name may stand for, the likeliest first; none is outside."""
    found = [] if Path(name).is_absolute() else [name.replace(os.sep, "/").removeprefix("./")]
    inside = (each for each in _from_shell(name) if each.is_relative_to(vault))
    found += [each.relative_to(vault).as_posix() for each in inside]
    return [encode_path(each) for each in dict.fromkeys(found)]


def _from_shell(name: str) -> list[Path]:
    """What a name means where the shell is: as written, and with links above the note resolved.

    The note itself may be a link, and then that is its place in the vault.
    """
    try:
        written = Path(os.path.abspath(name))  # noqa: PTH100 - keeps links as they are
        return [written, written.parent.resolve() / written.name]
    except (OSError, ValueError, RuntimeError):  # the folder was deleted, NUL, a ring of links
        return []
