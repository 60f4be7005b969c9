"""What the recall service is asked and what it answers: frozen values, no I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from khiip_indexer.records import CaptureRecord, Filters, IndexCounts, WatcherState
from khiip_indexer.types import ModelIdentity
from khiip_sidecar.ranking.orders import Match, Rank

if TYPE_CHECKING:
    from khiip_indexer.lexical.passages import PassageHit
    from khiip_sidecar.memory.composite import Breakdown

# What a process says that only reads: whether another one watches is not its to know.
NOT_WATCHING = WatcherState("off")


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A search; `limit` and `offset` count hits, `min_score` is a score that is still kept.

    Without a query the filters choose, and what matters now comes first. `syntax` says how the
    query is read; `explain` and `passages` ask for more about each hit.
    """

    query: str | None
    filters: Filters = field(default_factory=Filters)
    limit: int = 10
    offset: int = 0
    min_score: float | None = None
    match: Match = "semantic"
    rank: Rank = "relevance"
    syntax: Literal["free", "fts5"] = "free"
    explain: bool = False
    passages: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit is where it is: its composite with the parts of it, and reasons that are true."""

    breakdown: Breakdown
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecalledHit:
    """A hit as it is shown: its note is on the disk; `weak` when it fits no better than chance."""

    record: CaptureRecord
    score: float
    weak: bool = False
    explanation: Explanation | None = None
    passage: PassageHit | None = None


@dataclass(frozen=True, slots=True)
class RecallResult:
    """A page of hits, best first; `stale` when the disk is ahead of the index for any of them.

    `total_candidates` counts what the filters let in.
    """

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
