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

    A name that is no known path is taken for an id, so that who is asked can say it is unknown.
    """
    if not looks_like_path(name):
        return name
    with VaultIndex.open(settings) as index:
        record = find_record(index, settings, name)
    return record.id if record is not None else name


def named_record(index: VaultIndex, settings: Settings, name: str) -> CaptureRecord:
    """The capture with this id or path. Raises NotFound."""
    record = index.capture(clean_text(name)) or find_record(index, settings, name)
    if record is None:
        raise NotFound(
            f"No capture has the id or path {name}.",
            hint="`khiipd list` shows what there is; a new note is known after `khiipd reindex`.",
        )
    return record


def find_record(index: VaultIndex, settings: Settings, name: str) -> CaptureRecord | None:
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
    from_shell = Path(os.path.normpath(Path.cwd() / name))  # not resolve(): a note may be a link
    found = [] if Path(name).is_absolute() else [name.replace(os.sep, "/").removeprefix("./")]
    if from_shell.is_relative_to(vault):
        found.append(from_shell.relative_to(vault).as_posix())
    return [encode_path(each) for each in found]
