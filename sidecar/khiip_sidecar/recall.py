"""RecallService: the one object behind every face."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from khiip_indexer.embedding.lineup import actual
from khiip_indexer.embedding.remembered import Floors
from khiip_indexer.errors import (
    IndexMissing,
    KhiipError,
    NotFound,
    StorageError,
    Unsupported,
    UsageError,
    VaultError,
)
from khiip_indexer.records import CaptureRecord, Filters, IndexCounts, WatcherState
from khiip_sidecar.memory.desk import MemoryDesk
from khiip_sidecar.paging import Bookmarks, Page, fill_page
from khiip_sidecar.ranking.engine import NEAR, Found, SearchEngine
from khiip_sidecar.ranking.reading import Reading, require_vectors
from khiip_sidecar.ranking.showing import Showing
from khiip_sidecar.refusals import no_vectors_yet, not_watching, notes_gone, other_model, too_early
from khiip_sidecar.results import (
    NOT_WATCHING,
    Health,
    RecalledHit,
    RecallRequest,
    RecallResult,
)
from khiip_sidecar.steady import steadily
from khiip_sidecar.texts import clean_text
from khiip_sidecar.worker import IndexWorker, WorkerState, idle_state

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.index import VaultIndex
    from khiip_sidecar.history import FileHistory
    from khiip_sidecar.overview import Overview, OverviewRequest

_log = logging.getLogger(__name__)
T = TypeVar("T")

# What can be counted of an index that is not there.
NOTHING = IndexCounts(0, 0, 0, 0, 0, 0, 0, 0, last_reconcile=None)

# What unrelated texts reach, by model: of 24 questions about what no note of the sample vault
# speaks of, 14 find nothing above it; of its 42 real ones, none loses its answer (at least 0.25).
WEAK_BELOW = {"all-MiniLM-L6-v2": 0.24}


@dataclass(frozen=True, slots=True)
class Tuning:
    """What differs from one world to another: below which cosine a hit is weak (None: what is
    known of the model), what time it is, in seconds since 1970, and whether what was read may be
    written a moment after the answer: for a process that stays, and closes its index at its end.
    """

    weak_below: float | None = None
    clock: Callable[[], float] = time.time
    marks_soon: bool = False


class RecallService:
    """Answers from one index; `worker` is there when this process may write it.

    Every method may be called from many threads at once.
    """

    def __init__(
        self,
        index: VaultIndex,
        embedder: Embedder,
        *,
        worker: IndexWorker | None = None,
        watching: Callable[[], WatcherState] = lambda: NOT_WATCHING,
        tuning: Tuning | None = None,
    ) -> None:
        self.index = index
        self.embedder = embedder
        self.settings = index.settings
        self._worker = worker
        self._watching = watching
        self._bookmarks = Bookmarks()
        self._tuning = tuning or Tuning()
        self._floors = Floors(self.settings.homes.config, self.settings.vault)
        self.memory = MemoryDesk(index, self._tuning.clock)
        self._engine = SearchEngine(index, embedder, self.memory, self._weak_floor)
        self._showing = Showing(index, self.memory, self._weak_floor)

    def recall(self, request: RecallRequest) -> RecallResult:
        """The captures that fit a query best, or without one those that matter now."""
        filters = self._checked(request.filters)
        if request.query is None:
            request = replace(request, filters=filters)
            return self._result(request, None, self._engine.browse(request))
        asked = replace(request, filters=filters, query=_checked_query(request.query))
        return steadily(self.index.model, lambda: self._searched(asked))

    def _searched(self, request: RecallRequest) -> RecallResult:
        reading = self._engine.read(request, request.query or "", self.work().error)
        return self._result(request, reading, self._engine.search(request, reading))

    def related(
        self, *, capture_id: str | None, path: str | None, filters: Filters, limit: int, offset: int
    ) -> RecallResult:
        """The captures nearest to a given one, itself and its chain left out."""
        record = self._named(capture_id, path)
        require_vectors(self.index, self.embedder, self.work().error)
        request = RecallRequest(None, self._checked(filters), limit, offset)
        found = self._engine.related(request, record)
        if "not_embedded" in found.degraded:
            raise no_vectors_yet("This capture has no vector yet, so nothing can be near it.")
        return self._result(request, NEAR, found)

    def _result(
        self, request: RecallRequest, reading: Reading | None, found: Found
    ) -> RecallResult:
        page = found.page
        self._require_whole(page)
        return RecallResult(
            query=request.query,
            model=self.embedder.identity,
            hits=self._showing.hits(request, reading, page.items),
            has_more=page.has_more,
            total_candidates=max(0, found.total - page.gone),
            offset=request.offset,
            stale=page.stale,
            degraded=self._degraded(found.degraded),
        )

    def _degraded(self, found: Sequence[str]) -> tuple[str, ...]:
        at_work = {"warming": ("warming",), "indexing": ("indexing",), "suspect": ("indexing",)}
        return tuple(dict.fromkeys((*found, *at_work.get(self.work().state, ()))))

    def history(self, path: str, *, include_archived: bool = False) -> FileHistory:
        """What happened to the notes whose path holds a text, and what is remembered of them."""
        from khiip_sidecar.history import file_history
        from khiip_sidecar.linking import linked_memories

        self.index.vault.require()
        wanted = self.index.vault.resolve(path)
        found = file_history(self.index.history.edits(wanted))
        linked = linked_memories(self.index, wanted, found, include_archived=include_archived)
        return replace(found, linked_memories=linked)

    def overview(self, request: OverviewRequest) -> Overview:
        """Who and what the notes are about, by how much is going on."""
        from khiip_sidecar.overview import overview

        self.index.vault.require()
        wanted = replace(request, filters=self._checked(request.filters))
        found = overview(self.memory.sources, self.memory.remembered, self.memory.tallies, wanted)
        if not found.entities:
            self._require_notes()
        return found

    def mark_accessed(self, hits: Iterable[RecalledHit]) -> None:
        """Count one access for each hit; that it cannot be written is no reason not to answer."""
        try:
            ids = [hit.record.id for hit in hits]
            self.index.record_access(ids, soon=self._tuning.marks_soon)
        except StorageError as error:
            _log.warning("accesses could not be written: %s", error)

    def captures(
        self, filters: Filters, *, limit: int, offset: int
    ) -> list[tuple[CaptureRecord, bool]]:
        """Captures newest first, replaced versions too, and whether each note has changed since."""
        wanted = replace(self._checked(filters), heads_only=False)
        key = (wanted, self.index.meta("generation"), self.index.database.renewals)
        page = fill_page(
            lambda limit, offset: self.index.page(wanted, limit=limit, offset=offset),
            self.index.freshness,
            limit=limit,
            offset=offset,
            start=self._bookmarks.before(key, offset),
        )
        self._bookmarks.remember(key, page.end)
        self._require_whole(page)
        return list(zip(page.items, page.changed, strict=True))

    def capture(self, capture_id: str) -> CaptureRecord:
        """One capture by its id; NotFound when there is none, or its note is gone."""
        record = self.index.capture(clean_text(capture_id))
        if record is None:
            self.index.vault.require()
            raise NotFound(
                "No capture has this id.",
                hint="List captures to see their ids.",
            )
        return self._present(record)

    def capture_at(self, path: str) -> CaptureRecord:
        """One capture by the vault-relative path of its note."""
        record = self.index.capture_at(self.index.vault.resolve(path))
        if record is None:
            raise NotFound("No capture has this path.", hint="Give the whole path in the vault.")
        return self._present(record)

    def refetch(self, capture_id: str, dimension: str | None) -> CaptureRecord:
        """Read and embed one note again in place."""
        _check_dimension(dimension)
        record = self.capture(capture_id)
        self._writing_worker().refetch(record.vault_path)
        again = self.index.capture_at(record.vault_path)
        if again is None:
            raise NotFound("The capture's note is gone.", hint="Run khiipd reindex.")
        return again

    def health(self) -> Health:
        """The state of the index and of the work on it."""
        try:
            return self._health(self.work(), self._watching())
        except (IndexMissing, VaultError) as error:
            state, watcher = self.work().state, self._watching()
            return Health(state, error.sentence, NOTHING, self.index.vault_id, watcher)

    def _health(self, work: WorkerState, watcher: WatcherState) -> Health:
        kept = int(self.index.meta("suspect") or 0)
        state = "suspect" if kept and work.state == "ready" else work.state
        reason = (
            self._vault_fault()
            or work.error
            or self._model_fault()
            or (notes_gone(kept) if kept else None)
            or not_watching(watcher)
        )
        return Health(state, reason, self.index.counts(), self.index.vault_id, watcher)

    def counts(self) -> IndexCounts:
        return self.index.counts()

    def work(self) -> WorkerState:
        """What the indexing thread does now; without one, whether another process indexes."""
        if self._worker is not None:
            return self._worker.state()
        return idle_state(indexing=self.index.is_being_made())

    def start_index(self, *, full: bool, accept_deletions: bool) -> None:
        """Have the vault read again in the background; Busy when that is under way."""
        self._writing_worker().ask(full=full, accept_deletions=accept_deletions)

    def _writing_worker(self) -> IndexWorker:
        if self._worker is None:
            raise Unsupported(
                "This process has opened the index for reading only.",
                hint="Run khiipd serve, or khiipd reindex.",
            )
        return self._worker

    def _named(self, capture_id: str | None, path: str | None) -> CaptureRecord:
        if (capture_id is None) == (path is None):
            raise UsageError("Name one capture, by `id` or by `path`.", hint="Give one of the two.")
        return self.capture_at(path) if path is not None else self.capture(capture_id or "")

    def _present(self, record: CaptureRecord) -> CaptureRecord:
        if self.index.freshness(record) == "gone":
            self.index.vault.require()
            raise NotFound(
                "The capture's note is gone; the index is behind.", hint="Run khiipd reindex."
            )
        return record

    def _checked(self, filters: Filters) -> Filters:
        if not filters.folders and not filters.not_folders:
            return self.memory.narrowed(filters)
        resolve = self.index.vault.resolve
        folders = tuple(map(resolve, filters.folders))
        # A folder that is the vault itself lets everything in.
        inside = replace(
            filters,
            folders=() if "" in folders else folders,
            not_folders=tuple(map(resolve, filters.not_folders)),
        )
        return self.memory.narrowed(inside)

    def _require_whole(self, page: Page[T]) -> None:
        """Notes that were not met may be on a drive that is away: then nothing could be looked up.

        Raises VaultError, or IndexMissing before the vault was read. A page of notes that are all
        there needs no look.
        """
        if page.gone or not page.items:
            self.index.vault.require()
        if not page.items:
            self._require_notes()

    def _require_notes(self) -> None:
        """A list may be empty when the vault was read and has nothing, not before it was read."""
        counts = self.index.counts()
        if counts.notes == 0 and counts.last_reconcile is None:
            raise too_early(self.work().error or "The vault has not been read yet.")

    def _vault_fault(self) -> str | None:
        try:
            self.index.vault.require()
        except VaultError as error:
            return error.sentence
        return None

    def _model_fault(self) -> str | None:
        made_by = self.index.model()
        try:
            current = actual(self.embedder).identity
        except KhiipError as error:
            return error.sentence
        if made_by is None or made_by.key == current.key:
            return None
        return other_model(made_by, current).sentence

    def _weak_floor(self) -> float:
        """Below which a score means nothing: as calibrated, else as known of the model, else -1."""
        if self._tuning.weak_below is not None:
            return self._tuning.weak_below
        identity = self.embedder.identity
        kept = self._floors.of(identity.key)
        return WEAK_BELOW.get(identity.name, -1.0) if kept is None else kept


def _checked_query(query: str) -> str:
    cleaned = clean_text(query)
    if not cleaned.strip():
        raise UsageError("The query is empty.", hint="Give some words.", code="empty_query")
    return cleaned


def _check_dimension(dimension: str | None) -> None:
    if dimension is None:
        raise UsageError("`dimension` is missing.", hint="Give dimension=re-extract.")
    if dimension != "re-extract":
        raise Unsupported(
            "Only `re-extract` is served: notes are read from the vault, and nothing is ever "
            "fetched from the network.",
            hint="Give dimension=re-extract.",
        )
