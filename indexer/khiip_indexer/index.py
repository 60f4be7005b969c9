"""VaultIndex: one vault's `.khiip`, opened; everything a reader may ask of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from khiip_indexer.disk import glance
from khiip_indexer.disk.note_hash import content_hash
from khiip_indexer.errors import IndexMissing, NotFound, VaultError
from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.records import (
    CaptureRecord,
    Filters,
    Freshness,
    IndexCounts,
    Ranking,
)
from khiip_indexer.storage import queries
from khiip_indexer.storage.access_rows import Tally
from khiip_indexer.storage.accesses import AccessLog
from khiip_indexer.storage.database import DAMAGE_MARK, DATABASE_FILE, Database, translated
from khiip_indexer.storage.owner import WRITER_FILE, check_owner
from khiip_indexer.storage.reading import CacheReader
from khiip_indexer.store import get_meta
from khiip_indexer.types import ModelIdentity
from khiip_indexer.vault import Vault

if TYPE_CHECKING:
    from khiip_indexer.config import Settings
    from khiip_indexer.finder import Finder
    from khiip_indexer.graphs import GraphKeeper
    from khiip_indexer.history import History
    from khiip_indexer.lock import Role, WriterLock
    from khiip_indexer.search import Search
    from khiip_indexer.vectors import Vector


def _nothing() -> None:
    return None


# A search waits this long for a note that has changed on disk; then it is shown as changed.
FRESHNESS_SECONDS = 0.3


class VaultIndex(CacheReader):
    """Reads from many threads at once; the process that holds the lock also writes."""

    def __init__(self, settings: Settings, database: Database, lock: WriterLock | None) -> None:
        super().__init__(database)
        self.settings = settings
        self.vault = Vault(settings.vault, settings.exclude, settings.follow_symlinks)
        self._graphs: GraphKeeper | None = None
        self._history: History | None = None
        self._making = threading.Lock()
        self._lock = lock
        # Told when there is no index to be read, and when one was begun anew.
        self.missing: Callable[[], None] = _nothing
        self.renewed: Callable[[], None] = _nothing
        database.when_missing = self._explain_missing
        self._accesses = AccessLog(settings.state)

    @classmethod
    def open(cls, settings: Settings, *, write: bool = False, role: Role = "reindex") -> VaultIndex:
        """Open a vault's index.

        For writing: takes the vault's lock (VaultLocked when another process has it), makes the
        folder and repairs what is damaged. For reading: IndexMissing when there is none.
        """
        if not write:
            check_owner(settings.state, settings.vault)
            return cls(settings, Database(settings.state / DATABASE_FILE, writable=False), None)
        from khiip_indexer.opening import writable
        from khiip_indexer.storage.folder import prepare

        lock = prepare(settings, role)
        try:
            return cls(settings, writable(settings), lock)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Close the files and let the next writer in."""
        self._accesses.close()
        self.database.close()
        self.vault.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> VaultIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stands(self) -> bool:
        """Whether the files that this process writes are those that others find; cheap."""
        return self._lock is None or (self._lock.stands() and self.database.stands())

    def is_being_made(self) -> bool:
        """Whether another process brings the index up to the notes now; cheap where none does."""
        if not (self.settings.state / WRITER_FILE).exists():
            return False
        from khiip_indexer.lock import writer_of

        return writer_of(self.settings.state) == "reindex"

    def take_up(self) -> bool:
        """Begin anew where the folder was deleted while it was open; tells whether it was.

        What was read is written into the new one, and so are the vectors. Raises VaultError where
        the vault itself is not there, and VaultLocked where another process writes now.
        """
        from khiip_indexer.opening import take_up

        self.vault.require()
        if self._lock is None or self.stands():
            return False
        take_up(self.database, self._lock, self.settings, self._vault_id)
        self._accesses.come_back()
        self.renewed()
        return True

    def _explain_missing(self) -> None:
        self.vault.require()
        self.missing()

    @property
    def graphs(self) -> GraphKeeper:
        """What is searched in memory; made when first asked for, so that others start fast."""
        from khiip_indexer.graphs import GraphKeeper

        with self._making:
            if self._graphs is None:
                self._graphs = GraphKeeper(
                    self.settings.state, self.database, self.settings.homes.cache
                )
            return self._graphs

    @property
    def history(self) -> History:
        """What happened to the notes, from git or the journal; made when first asked for."""
        from khiip_indexer.history import History

        with self._making:
            if self._history is None:
                self._history = History(self.database, self.settings.vault, self.settings.exclude)
            return self._history

    def catch_up(self) -> None:
        """Bring what is in memory, if anything is, up to what was written."""
        if self._graphs is not None:
            self._graphs.catch_up()

    def search(
        self,
        vector: Vector,
        filters: Filters,
        *,
        limit: int,
        offset: int = 0,
        min_score: float | None = None,
    ) -> Ranking:
        """Captures by cosine with `vector` (unit length), best first; equal scores newest first."""
        with self.searching() as search:
            return search.run(vector, filters, limit=limit, offset=offset, min_score=min_score)

    def near(
        self, record: CaptureRecord, filters: Filters, *, limit: int, offset: int = 0
    ) -> Ranking:
        """Captures near this one, itself and its chain left out."""
        with self.searching() as search:
            return search.near(record, filters, limit=limit, offset=offset)

    @property
    def finder(self) -> Finder:
        """Finds captures for a query, by meaning and by words."""
        from khiip_indexer.finder import Finder

        return Finder(self.database, self.searching, self._memo)

    @contextmanager
    def searching(self) -> Iterator[Search]:
        """A search over vectors, for as long as the block lasts."""
        from khiip_indexer.search import Search

        model = self._require_model()
        with translated(self.database.path):
            yield Search(self._read(), self.graphs, model, self.total)

    def _require_model(self) -> ModelIdentity:
        model = self.model()
        if model is None:
            raise IndexMissing("This vault has no index yet.", hint="Run khiipd reindex.")
        return model

    def freshness(self, record: CaptureRecord) -> Freshness:
        """Whether the note on disk is still the one that was indexed."""
        if self.vault.is_silent_at(record.vault_path):
            return "changed"  # it may be: asking would keep the search until its drive answers
        if self.vault.is_untouched(record.vault_path, record.seen):
            return "fresh"
        try:
            if self.vault.fingerprint(record.vault_path) is None:
                return "gone"
            with translated(self.database.path):
                known = queries.content_hash(self._read(), record.row)
            raw, _ = self.vault.read(record.vault_path, patience=FRESHNESS_SECONDS)
        except NotFound:
            return "gone"
        except VaultError:
            return "changed"  # there, but not to be read now: what is stored may be old
        return "fresh" if content_hash(raw) == known else "changed"

    def source(self, record: CaptureRecord) -> str:
        """The note's file as it is now, as text; "" where it is gone or cannot be read."""
        try:
            raw, _ = self.vault.read(record.vault_path, patience=FRESHNESS_SECONDS)
        except (NotFound, VaultError):
            return ""
        return raw.decode("utf-8", "replace")

    def record_access(self, ids: Sequence[str], *, soon: bool = False) -> None:
        """Count one access now for each of these captures, also from a process that only reads.

        StorageError where the folder cannot be written; with `soon`, it is written in a moment.
        """
        (self._accesses.record_soon if soon else self._accesses.record)(ids)

    def accesses(self, ids: Iterable[str] | None = None) -> dict[str, Tally]:
        """How often these captures (or all) were read and when last; those never read are left."""
        return self._accesses.tallies(ids)

    @property
    def suspected(self) -> bool:
        """Whether somebody met damage in the cache since it was last looked through."""
        return self.database.path.with_name(DAMAGE_MARK).exists()

    def repair(self) -> None:
        """Put a new cache in the place of a damaged one, while others go on reading.

        Nothing that can be read of it is lost; the next sync reads the notes again.
        """
        from khiip_indexer.opening import make_ours
        from khiip_indexer.storage.repair import set_aside_damaged

        known = self._vault_id
        self.database.renew(lambda: set_aside_damaged(self.database.path))
        make_ours(self.database, self.settings, known)

    def tidy(self) -> None:
        """After a change: let accesses follow their captures, and give free room back."""
        from khiip_indexer.storage.id_changes import forget_id_changes, id_changes
        from khiip_indexer.storage.pruning import reclaim

        steps = id_changes(self._read())
        if steps:
            self._accesses.follow(self.vault_id, steps)
            with self.database.write() as connection:
                forget_id_changes(connection, steps)
        reclaim(self.database)

    def counts(self) -> IndexCounts:
        """How much of the vault can be found, and how; counted again only after a change."""
        from khiip_indexer.storage.counts import count_all

        connection = self._read()
        with translated(self.database.path):
            counts = self._memo.get_dear(
                (get_meta(connection, "generation"), get_meta(connection, "last_reconcile")),
                lambda: self._memo.get(
                    connection, "counts", lambda: count_all(connection, self.meta("model_key"))
                ),
            )
        looked = glance.looked_at(str(self.settings.state))
        if looked is not None and counts.last_reconcile is not None:
            at = rfc3339(datetime.fromtimestamp(looked, UTC))
            counts = replace(counts, last_reconcile=max(counts.last_reconcile, at))
        return counts
