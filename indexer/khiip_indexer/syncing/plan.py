"""What a sync has to do: files seen against files stored. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from khiip_indexer.types import Fingerprint

# Below this many, a vanished note is an everyday deletion and never a lost drive.
_FEW = 10
_LATELY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Plan:
    """Paths to open (`suspects`: new or with another fingerprint) and paths that are not there."""

    suspects: tuple[str, ...]
    missing: tuple[str, ...]
    unchanged: int


def compare(
    seen: Mapping[str, Fingerprint], stored: Mapping[str, Fingerprint], indexed_at_ns: int
) -> Plan:
    """Sort files by what their fingerprints say.

    A file written so shortly before the last sync that its clock could not show a second write
    (within two seconds, the coarsest file systems) is opened again, as git does.
    """
    racy = indexed_at_ns - 2_000_000_000
    suspects = tuple(
        path
        for path, fingerprint in seen.items()
        if stored.get(path) != fingerprint or fingerprint.mtime_ns > racy
    )
    missing = tuple(path for path in stored if path not in seen)
    return Plan(suspects, missing, len(seen) - len(suspects))


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs, once files were read: paths; `moved` pairs the old path with the new."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    touched: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]


def resolve(
    hashes: Mapping[str, bytes], stored: Mapping[str, bytes], missing: tuple[str, ...]
) -> Changes:
    """Tell edits from touches, and moves from a deletion beside a new note.

    `hashes` are the content hashes of the suspects. A new path with the content of a missing one
    is that note, moved; among equal ones the same file name is preferred.
    """
    known = [path for path in hashes if path in stored]
    changed = tuple(path for path in known if hashes[path] != stored[path])
    touched = tuple(path for path in known if hashes[path] == stored[path])
    moved = _moves([path for path in hashes if path not in stored], hashes, stored, missing)
    arrived = {new for _, new in moved}
    left = {old for old, _ in moved}
    return Changes(
        added=tuple(path for path in hashes if path not in stored and path not in arrived),
        changed=changed,
        touched=touched,
        moved=moved,
        removed=tuple(path for path in missing if path not in left),
    )


def _moves(
    new: list[str],
    hashes: Mapping[str, bytes],
    stored: Mapping[str, bytes],
    missing: tuple[str, ...],
) -> tuple[tuple[str, str], ...]:
    sources: dict[bytes, dict[str, None]] = {}
    named: dict[tuple[bytes, str], list[str]] = {}
    for path in missing:
        sources.setdefault(stored[path], {})[path] = None
        named.setdefault((stored[path], _name(path)), []).append(path)
    pairs: list[tuple[str, str]] = []
    later: list[str] = []
    for path in new:
        same = named.get((hashes[path], _name(path)))
        if same:
            old = same.pop()
            del sources[hashes[path]][old]
            pairs.append((old, path))
        else:
            later.append(path)
    for path in later:
        left = sources.get(hashes[path])
        if left:
            pairs.append((left.popitem()[0], path))
    return tuple(pairs)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class Lately:
    """Deletions of the last minute: a drive that goes in several pieces is lost all the same."""

    def __init__(self) -> None:
        self._deleted: list[tuple[datetime, int]] = []

    def add(self, now: datetime, count: int) -> None:
        """Remember that so many notes were dropped."""
        if count:
            self._deleted.append((now, count))

    def count(self, now: datetime) -> int:
        """How many were dropped within the last minute."""
        self._deleted = [each for each in self._deleted if now - each[0] <= _LATELY]
        return sum(count for _, count in self._deleted)


def looks_lost(stored: int, removed: int) -> bool:
    """Whether so much is gone at once that a lost drive is likelier than a person deleting."""
    return removed > _FEW and removed * 2 > stored
