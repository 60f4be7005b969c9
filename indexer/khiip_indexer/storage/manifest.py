"""The manifest: what the saved graph file is, so that nothing unverified is ever loaded."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from khiip_indexer.storage.atomic import digest, write_file

MANIFEST_FILE = "manifest.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """One saved graph: written last, after its file is safely on disk.

    `seq` is the last change of the vector log that the graph holds; `file` lies beside the
    manifest; `size` is in bytes; `elements` counts graph slots, deleted ones included.
    """

    generation: int
    seq: int
    model: str
    dimension: int
    elements: int
    file: str
    size: int
    sha256: str


def read_manifest(state: Path) -> Manifest | None:
    """The manifest of `state`, or None when there is none that can be trusted."""
    try:
        table = json.loads((state / MANIFEST_FILE).read_bytes())
        if table.pop("format") != _FORMAT:
            return None
        manifest = Manifest(**table)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        # Absent, cut short, merged by git, from another version: all mean "build the graph anew".
        return None
    return manifest if _is_sane(manifest) else None


def _is_sane(manifest: Manifest) -> bool:
    numbers = (manifest.generation, manifest.seq, manifest.dimension, manifest.elements)
    texts = (manifest.model, manifest.file, manifest.sha256)
    return (
        all(type(number) is int and number >= 0 for number in (*numbers, manifest.size))
        and all(isinstance(text, str) for text in texts)
        and Path(manifest.file).name == manifest.file
    )


def write_manifest(state: Path, manifest: Manifest) -> None:
    """Make `manifest` the one that the next start believes."""
    table = {"format": _FORMAT, **asdict(manifest)}
    write_file(state / MANIFEST_FILE, json.dumps(table, indent=1).encode() + b"\n")


def may_differ(state: Path, manifest: Manifest) -> bool:
    """Whether the graph file looks touched: gone, of another size, or written after its manifest.

    Costs two stats where `matches` reads the whole file.
    """
    try:
        graph = (state / manifest.file).lstat()
        described = (state / MANIFEST_FILE).stat()
    except OSError:
        return True
    return graph.st_size != manifest.size or graph.st_mtime_ns > described.st_mtime_ns


def matches(state: Path, manifest: Manifest) -> bool:
    """Whether the graph file is, byte for byte, the one that the manifest speaks of."""
    path = state / manifest.file
    try:
        if path.is_symlink() or path.stat().st_size != manifest.size:
            return False
        return digest(path) == (manifest.size, manifest.sha256)
    except OSError:
        return False
