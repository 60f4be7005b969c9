"""What the index hands out: stored captures, hits, filters, counts. Frozen values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from khiip_indexer.types import ExtractionStatus, Fingerprint, Problem, RecordedFrom, Source

STRUCTURED_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class CaptureRecord:
    """A capture as stored, ids and chains settled, without its payload. Times are RFC 3339 UTC.

    `row` is the store's own number and means nothing outside one index; `seen` is the note's file
    as it was indexed. `head_id` is the id of
    the chain's current version (its own id for a head). `superseded_by` is an id, or the pointer
    as written when it leads nowhere. `payload_chars` counts the payload's JSON as the full view
    sends it.
    """

    row: int
    id: str
    vault_path: str
    url: str
    source: Source
    title: str
    author: str | None
    description: str | None
    recorded_at: str
    recorded_at_from: RecordedFrom
    valid_from: str
    modified_at: str
    archived: bool
    superseded_by: str | None
    head_id: str
    host: str | None
    layer: str | None
    altitude: str | None
    mem_type: str | None
    mem_state: str | None
    thread_id: str | None
    importance: float | None
    pinned: bool
    excerpt: str
    excerpt_from: str
    payload_chars: int
    extraction_status: ExtractionStatus
    extraction_error: str | None
    extraction_attempts: int
    seen: Fingerprint
    user_tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filters:
    """Which captures may be hits: every given filter must hold, any of a filter's values may.

    What stands under `not_` must hold for none of its values. Of `phrases` every one must stand in
    the note's text; of `properties`, (key, value or None for any value), one value a key.
    `folders` are vault-relative without a trailing `/` and hold everything below them; a tag holds
    its nested tags; `entities` are entity keys; `path_has` and `file_has` are parts of the path
    and of the file's name. `since` and `until` are RFC 3339 UTC bounds on `recorded_at` (`since`
    inclusive, `until` exclusive). `bands` are the read side's to apply: heat changes with time.
    `heads_only` keeps one capture a chain. `rows`, where given, are the only ones that may be in.
    """

    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    include_archived: bool = False
    heads_only: bool = True
    entities: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    altitudes: tuple[str, ...] = ()
    mem_types: tuple[str, ...] = ()
    mem_states: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    bands: tuple[str, ...] = ()
    rows: tuple[int, ...] | None = None
    path_has: tuple[str, ...] = ()
    file_has: tuple[str, ...] = ()
    properties: tuple[tuple[str, str | None], ...] = ()
    phrases: tuple[str, ...] = ()
    not_sources: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    not_folders: tuple[str, ...] = ()
    not_authors: tuple[str, ...] = ()
    not_entities: tuple[str, ...] = ()
    not_layers: tuple[str, ...] = ()
    not_altitudes: tuple[str, ...] = ()
    not_mem_types: tuple[str, ...] = ()
    not_mem_states: tuple[str, ...] = ()
    not_threads: tuple[str, ...] = ()
    not_bands: tuple[str, ...] = ()
    not_path_has: tuple[str, ...] = ()
    not_file_has: tuple[str, ...] = ()
    not_properties: tuple[tuple[str, str | None], ...] = ()
    not_phrases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked capture; `score` is the raw cosine of its best vector, in [-1, 1]."""

    record: CaptureRecord
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """A page of hits, best first; `total_candidates` counts what the filters let in.

    `degraded` names what was not available (`no_hnsw`, `vector_index_rebuilding`, …).
    """

    hits: tuple[Hit, ...]
    total_candidates: int
    has_more: bool
    degraded: tuple[str, ...] = ()


Freshness = Literal["fresh", "changed", "gone"]


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """How much of the vault can be found, and how; in notes but for `vectors` and `passages`.

    `failed` notes have no vector of their own and will get none by themselves. `offline` notes
    have their content in the cloud only; those of them that are not indexed are
    `offline_missing`, and `unreadable_missing` are notes that could not be read so far.
    """

    notes: int
    searchable_by_text: int
    searchable_by_meaning: int
    pending: int
    problems: int
    passages: int
    vectors: int
    generation: int
    last_reconcile: str | None
    by_source: dict[str, int] = field(default_factory=dict)
    partial_by_source: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    offline: int = 0
    offline_missing: int = 0
    unreadable_missing: int = 0


@dataclass(frozen=True, slots=True)
class WatcherState:
    """How changes of the vault are noticed; `reason` says why it is not by events.

    `restarts` counts how often watching had to begin anew; `last_event_at` is RFC 3339 UTC.
    """

    mode: Literal["off", "watching", "polling"]
    reason: str | None = None
    restarts: int = 0
    last_event_at: str | None = None


Phase = Literal["scan", "read", "first_vectors", "passages", "save", "done"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sync is: `done` of `total` notes or passages in this phase."""

    phase: Phase
    done: int
    total: int
    path: str | None = None


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did, in notes; `embedded` and `failed` count texts given to the model.

    `pending` counts notes that still lack a vector, `renamed` those whose vectors know an older
    name of the file until the next sync, `outdated` notes whose bytes are the same and
    that are to be read anew because the model or the program has changed, `with_problems` notes
    that have any problem; `problems` are those that this sync met. `complete` is false when it
    was stopped early.
    """

    seen: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    embedded: int = 0
    failed: int = 0
    pending: int = 0
    renamed: int = 0
    with_problems: int = 0
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0
    complete: bool = True
    outdated: int = 0

    @property
    def behind(self) -> int:
        """How many notes the index has, or had, to catch up with."""
        return (
            self.added + self.changed + self.moved + self.removed + max(self.pending, self.outdated)
        )
