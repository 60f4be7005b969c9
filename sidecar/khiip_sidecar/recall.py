"""RecallService: the one object behind every face."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from khiip_indexer.errors import (
    ModelError,
    NotFound,
    Unsupported,
    UsageError,
)
from khiip_indexer.records import CaptureRecord, Filters, Hit, IndexCounts, Ranking, WatcherState
from khiip_indexer.types import ModelIdentity, Problem
from khiip_sidecar.paging import Bookmarks, Page, fill_page
from khiip_sidecar.refusals import no_vectors_yet, not_watching, notes_gone, other_model, too_early
from khiip_sidecar.texts import clean_text
from khiip_sidecar.worker import IndexWorker, WorkerState, idle_state

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from khiip_indexer.embedder import Embedder
    from khiip_indexer.index import VaultIndex

# What unrelated texts reach, by model: of 24 questions about what no note of the sample vault
# speaks of, 14 find nothing above it; of its 42 real ones, none loses its answer (at least 0.25).
WEAK_BELOW = {"all-MiniLM-L6-v2": 0.24}


# What a process says that only reads: whether another one watches is not its to know.
NOT_WATCHING = WatcherState("off")


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A search; `limit` and `offset` count hits, `min_score` is a cosine that is still kept."""

    query: str | None
    filters: Filters = field(default_factory=Filters)
    limit: int = 10
    offset: int = 0
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class RecalledHit:
    """A hit as it is shown: its note is on the disk; `weak` when it fits no better than chance."""

    record: CaptureRecord
    score: float
    weak: bool = False


@dataclass(frozen=True, slots=True)
class RecallResult:
    """A page of hits, best first; `stale` when the disk is ahead of the index for any of them."""

    query: str | None
    model: ModelIdentity
    hits: tuple[RecalledHit, ...]
    has_more: bool
    total_candidates: int
    offset: int
    stale: bool
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the service can do its work; `reason` says why not, in one sentence."""

    state: str
    reason: str | None
    counts: IndexCounts
    vault_id: str
    watcher: WatcherState = NOT_WATCHING


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
        weak_below: float | None = None,
    ) -> None:
        self.index = index
        self.embedder = embedder
        self.settings = index.settings
        self._worker = worker
        self._watching = watching
        self._weak_below = weak_below
        self._bookmarks = Bookmarks()

    def recall(self, request: RecallRequest) -> RecallResult:
        """The captures nearest to the query by meaning."""
        query = _checked_query(request.query)
        self._require_vectors()
        vector = self._query_vector(query)
        filters = self._checked(request.filters)

        def fetch(limit: int, offset: int) -> Ranking:
            return self.index.search(
                vector, filters, limit=limit, offset=offset, min_score=request.min_score
            )

        return self._ranked(query, fetch, request.limit, request.offset)

    def related(
        self, *, capture_id: str | None, path: str | None, filters: Filters, limit: int, offset: int
    ) -> RecallResult:
        """The captures nearest to a given one, itself and its chain left out."""
        record = self._named(capture_id, path)
        self._require_vectors()
        wanted = self._checked(filters)

        def fetch(limit: int, offset: int) -> Ranking:
            return self.index.near(record, wanted, limit=limit, offset=offset)

        return self._ranked(None, fetch, limit, offset)

    def captures(self, filters: Filters, *, limit: int, offset: int) -> list[CaptureRecord]:
        """Captures newest first, replaced versions too."""
        wanted = replace(self._checked(filters), heads_only=False)
        key = (wanted, self.index.meta("generation"))
        page = fill_page(
            lambda limit, offset: self.index.page(wanted, limit=limit, offset=offset),
            self.index.freshness,
            limit=limit,
            offset=offset,
            start=self._bookmarks.before(key, offset),
        )
        self._bookmarks.remember(key, page.end)
        if not page.items:
            self._require_notes()
        return list(page.items)

    def capture(self, capture_id: str) -> CaptureRecord:
        """One capture by its id; NotFound when there is none, or its note is gone."""
        record = self.index.capture(clean_text(capture_id))
        if record is None:
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

    def payload(self, record: CaptureRecord) -> str:
        """The JSON text of the capture's payload."""
        return self.index.payload(record)

    def problems(self, path: str) -> list[Problem]:
        """What could not be used of one note."""
        return self.index.problems(path=path)

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
        work = self.work()
        kept = int(self.index.meta("suspect") or 0)
        state = "suspect" if kept and work.state == "ready" else work.state
        watcher = self._watching()
        reason = (
            work.error
            or self._model_fault()
            or (notes_gone(kept) if kept else None)
            or not_watching(watcher)
        )
        return Health(state, reason, self.index.counts(), self.index.vault_id, watcher)

    def counts(self) -> IndexCounts:
        return self.index.counts()

    def work(self) -> WorkerState:
        """What the indexing thread does now; `ready` when this process has none."""
        return self._worker.state() if self._worker else idle_state()

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
            raise NotFound(
                "The capture's note is gone; the index is behind.", hint="Run khiipd reindex."
            )
        return record

    def _checked(self, filters: Filters) -> Filters:
        resolve = self.index.vault.resolve
        folders = tuple(map(resolve, filters.folders))
        # A folder that is the vault itself lets everything in.
        return replace(
            filters,
            folders=() if "" in folders else folders,
            not_folders=tuple(map(resolve, filters.not_folders)),
        )

    def _require_notes(self) -> None:
        """A list may be empty when the vault was read and has nothing, not before it was read."""
        counts = self.index.counts()
        if counts.notes == 0 and counts.last_reconcile is None:
            raise too_early(self.work().error or "The vault has not been read yet.")

    def _require_vectors(self) -> None:
        """Vectors of two models must never meet in one search."""
        made_by = self.index.model()
        if made_by is None:
            raise no_vectors_yet(self.work().error)
        if made_by.key != self.embedder.identity.key:
            raise other_model(made_by, self.embedder.identity)

    def _check_empty(self, ranking: Ranking) -> None:
        """An empty answer must mean that nothing fits, never that nothing could be compared."""
        if "not_embedded" in ranking.degraded:
            raise no_vectors_yet("This capture has no vector yet, so nothing can be near it.")
        self._require_notes()
        counts = self.index.counts()
        if counts.notes and not counts.searchable_by_meaning:
            raise no_vectors_yet(self.work().error)

    def _model_fault(self) -> str | None:
        made_by = self.index.model()
        try:
            current = self.embedder.identity
        except ModelError as error:
            return error.sentence
        if made_by is None or made_by.key == current.key:
            return None
        return other_model(made_by, current).sentence

    def _query_vector(self, query: str) -> NDArray[np.float32]:
        try:
            vector: NDArray[np.float32] = self.embedder.embed([query])[0]
        except RuntimeError as error:  # the model is there and fails on this very text
            raise ModelError(
                "The model failed on this query.", hint="Say it in other words."
            ) from error
        if not 0.99 < float(vector @ vector) < 1.01:  # also false for what is not a number
            raise ModelError("The model gave no usable vector.", hint="Run khiipd doctor.")
        return vector

    def _ranked(
        self, query: str | None, fetch: Callable[[int, int], Ranking], limit: int, offset: int
    ) -> RecallResult:
        seen: list[Ranking] = []

        floor = self._weak_floor()

        def hits(limit: int, offset: int) -> tuple[RecalledHit, ...]:
            seen.append(fetch(limit, offset))
            return tuple(_shown(hit, floor) for hit in seen[-1].hits)

        page: Page[RecalledHit] = fill_page(
            hits, lambda hit: self.index.freshness(hit.record), limit=limit, offset=offset
        )
        if not page.items:
            self._check_empty(seen[-1])
        return RecallResult(
            query=query,
            model=self.embedder.identity,
            hits=page.items,
            has_more=page.has_more,
            total_candidates=max(0, seen[-1].total_candidates - page.gone),
            offset=offset,
            stale=page.stale,
            degraded=self._degraded(seen[-1]),
        )

    def _weak_floor(self) -> float:
        """Below which a score means nothing; -1 for a model that was not measured."""
        if self._weak_below is not None:
            return self._weak_below
        return WEAK_BELOW.get(self.embedder.identity.name, -1.0)

    def _degraded(self, ranking: Ranking) -> tuple[str, ...]:
        state = self.work().state
        at_work = {"warming": ("warming",), "indexing": ("indexing",), "suspect": ("indexing",)}
        return tuple(dict.fromkeys((*ranking.degraded, *at_work.get(state, ()))))


def _shown(hit: Hit, floor: float) -> RecalledHit:
    return RecalledHit(hit.record, hit.score, weak=hit.score < floor)


def _checked_query(query: str | None) -> str:
    if query is None:
        raise Unsupported(
            "This version recalls by meaning only: it needs a query.",
            hint="Give a query; khiipd list and /api/v1/captures list captures without one.",
        )
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
