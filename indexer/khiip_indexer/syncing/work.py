"""What there is to do: the vault as it is on disk, held against the index."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from khiip_indexer.disk.note_hash import content_hash
from khiip_indexer.disk.path_text import folders_above
from khiip_indexer.errors import DeletionBrake, NotFound, VaultError
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import SyncReport
from khiip_indexer.storage import queries
from khiip_indexer.store import get_meta
from khiip_indexer.syncing import plan
from khiip_indexer.syncing.versions import makers
from khiip_indexer.types import Fingerprint, ModelIdentity, Problem
from khiip_indexer.vault import Vault


@dataclass(frozen=True, slots=True)
class Scan:
    """Every note's fingerprint, and what of the vault could not be looked at.

    `under` names the notes and folders that were looked at; None for the whole vault.
    """

    files: dict[str, Fingerprint]
    problems: tuple[Problem, ...]
    offline: frozenset[str]
    started_ns: int
    under: tuple[str, ...] | None = None

    def covers(self, path: str) -> bool:
        """Whether this look was at the path."""
        return self.under is None or any(
            path == named or path.startswith(f"{named}/") for named in self.under
        )

    def gone(self, missing: Iterable[str]) -> tuple[str, ...]:
        """Of notes that were not seen, those that are gone: not in a cloud, and neither they nor
        a folder of theirs kept from being looked at.
        """
        unseen = {problem.path for problem in self.problems} | self.offline
        return tuple(p for p in missing if unseen.isdisjoint((p, *folders_above(p))))


@dataclass(frozen=True, slots=True)
class Work:
    """What one sync will do.

    `reread` are notes to project again although their bytes are the same; `kept` are notes that
    are gone from the vault and stay in the index because too many went at once. `explained` counts
    those of the removed that something else says are gone, `head` is the commit that git was at
    while the whole vault was looked at, where that is known.
    """

    scan: Scan
    changes: plan.Changes
    unchanged: int
    stored: int
    reread: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    explained: int = 0
    head: str | None = None

    def rereading(self, paths: Collection[str] | None) -> Work:
        """Also read these again, of the notes that are otherwise left alone; None means all."""
        changes = self.changes
        planned = {*changes.added, *changes.changed, *(new for _, new in changes.moved)}
        wanted = self.scan.files.keys() if paths is None else set(paths)
        again = tuple(p for p in self.scan.files if p in wanted and p not in planned)
        return replace(self, reread=again)

    def braked(self, lately: int, explained: Callable[[], Collection[str]]) -> Work:
        """Deletions taken out when they look like a lost drive; `lately` were just before.

        `explained`, asked only then, gives paths that are gone for a known reason.
        """
        removed = self.changes.removed
        if not removed or not plan.looks_lost(self.stored + lately, len(removed) + lately):
            return self
        known = explained()
        lost = tuple(path for path in removed if path not in known)
        gone = len(removed) - len(lost)
        if not lost or not plan.looks_lost(self.stored - gone + lately, len(lost) + lately):
            return replace(self, explained=gone)
        dropped = tuple(path for path in removed if path in known)
        changes = replace(self.changes, removed=dropped)
        return replace(self, changes=changes, kept=lost, explained=gone)

    @property
    def to_read(self) -> tuple[str, ...]:
        """The notes that are read again where they are."""
        return (*self.changes.changed, *self.changes.added, *self.reread)

    @property
    def texts(self) -> tuple[str, ...]:
        """The notes whose text and dates are stored anew."""
        return (*self.to_read, *(new for _, new in self.changes.moved))

    @property
    def touches_text(self) -> bool:
        """Whether any stored note changes."""
        changes = self.changes
        return any((changes.added, changes.changed, changes.moved, changes.removed, self.reread))


def plan_work(index: VaultIndex, paths: Collection[str] | None = None) -> Work:
    """Compare the vault, or these notes and folders of it, with the index.

    Opens only files whose fingerprint is new. Where there are symlinks to folders, only the
    whole vault tells which of them counts.
    """
    under = outermost(paths)
    stored = queries.stored_files(index.database.read(), under)
    scan = _scan(index.vault, under)
    if under is not None and index.vault.linked:
        return plan_work(index)
    known = {path: fingerprint for path, (fingerprint, _) in stored.items()}
    compared = plan.compare(scan.files, known, int(index.meta("indexed_at_ns") or 0))
    missing = scan.gone(compared.missing)
    hashes = _content_hashes(index.vault, compared.suspects, known.keys(), bool(missing))
    contents = {path: content for path, (_, content) in stored.items()}
    changes = plan.resolve(hashes, contents, missing)
    known_notes = len(stored) if under is None else queries.count_files(index.database.read())
    return Work(scan, changes, compared.unchanged, known_notes)


def outermost(paths: Collection[str] | None) -> tuple[str, ...] | None:
    """The paths without those inside others of them; None, for all, when the vault is one."""
    if paths is None or "" in paths:
        return None
    named = set(paths)
    return tuple(sorted(path for path in named if named.isdisjoint(folders_above(path))))


def _scan(vault: Vault, under: tuple[str, ...] | None) -> Scan:
    started = time.time_ns()
    files = dict(vault.scan(under))
    return Scan(files, tuple(vault.problems), frozenset(vault.offline), started, under)


def _content_hashes(
    vault: Vault, suspects: Iterable[str], known: Collection[str], any_missing: bool
) -> dict[str, bytes]:
    """Hashes of the files that must be told apart.

    A new file is only read here when a note is missing, since only then it may be that note,
    moved. A file that cannot be read counts as changed: reading it again will say why.
    """
    hashes: dict[str, bytes] = {}
    for path in suspects:
        hashes[path] = b""
        if any_missing or path in known:
            try:
                hashes[path] = content_hash(vault.read(path)[0])
            except (NotFound, VaultError):
                continue
    return hashes


def vault_problems(connection: sqlite3.Connection, scan: Scan) -> list[Problem] | None:
    """What could not be looked at, together with what is known of the rest; None if as before."""
    known = queries.problems_of(connection, "vault")
    found = [each for each in known if not scan.covers(each.path)] + list(scan.problems)
    return None if sorted(found, key=repr) == sorted(known, key=repr) else found


def readable_again(connection: sqlite3.Connection, scan: Scan, met: Iterable[Problem]) -> list[str]:
    """Files that could not be read before, and were read, known unchanged or gone this time.

    `met` are the problems of this run: whatever still cannot be read was tried again.
    """
    rows = connection.execute("SELECT DISTINCT path FROM problems WHERE origin = 'file'")
    still = {problem.path for problem in met}
    return [path for (path,) in rows if scan.covers(path) and path not in still]


def brake(kept: int) -> DeletionBrake:
    """What is said when deletions were held back."""
    return DeletionBrake(
        f"{kept} notes, most of the index, are gone from the vault; "
        "none of them was dropped from the index.",
        hint="Is the drive mounted and synced? If you deleted them: "
        "khiipd reindex --accept-deletions.",
    )


def pending_notes(index: VaultIndex) -> int:
    """How many notes have a text that still waits for its vector."""
    connection = index.database.read()
    if get_meta(connection, "pending") is None:
        return 0
    return queries.pending(connection, index.meta("model_key") or "")


def check(index: VaultIndex, identity: ModelIdentity | None = None) -> SyncReport:
    """What a run would do, with this model if one is named; reads only."""
    work = plan_work(index)
    if identity is not None and _is_outdated(index, identity):
        work = work.rereading(None)
    changes = work.changes
    return SyncReport(
        seen=len(work.scan.files),
        added=len(changes.added),
        changed=len(changes.changed),
        moved=len(changes.moved),
        removed=len(changes.removed),
        unchanged=work.unchanged,
        pending=pending_notes(index),
        outdated=len(work.reread),
    )


def _is_outdated(index: VaultIndex, identity: ModelIdentity) -> bool:
    """Whether another model or version made the index, or a change of them is half done."""
    wanted = makers(identity)
    return index.meta("reread") is not None or any(
        index.meta(key) != value for key, value in wanted.items()
    )
