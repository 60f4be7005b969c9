"""The entity overview: who and what the notes are about, by how much is going on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from khiip_indexer.errors import UsageError
from khiip_indexer.fields.memory import LAYERS
from khiip_indexer.records import Filters
from khiip_indexer.storage.access_rows import Tally
from khiip_sidecar.memory import constants as c
from khiip_sidecar.memory.activity import newest, note_importances, per_entity
from khiip_sidecar.memory.lookup import Momentum, Remembered, Sources
from khiip_sidecar.memory.momentum import momentum_band

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from khiip_indexer.storage.entities import EntityFacts

    Whole = NDArray[np.int64]
    Numbers = NDArray[np.float64]

KINDS = ("person", "company", "project", "concept", "file")
OTHER = "other"


@dataclass(frozen=True, slots=True)
class OverviewRequest:
    """Which entities: of one kind, named by at least so many notes; `filters` choose the notes."""

    kind: str | None = None
    min_memories: int = 1
    limit: int = 10
    offset: int = 0
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class EntityRow:
    """One entity; `layers` counts its notes by layer, `last_access` is milliseconds since 1970."""

    name: str
    kind: str
    memory_count: int
    layers: Mapping[str, int]
    pinned_count: int
    momentum_score: float
    momentum_band: str
    last_access: int | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A page of entities, the most active first; `total` counts all that were asked for."""

    entities: tuple[EntityRow, ...]
    total: int
    has_more: bool


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """What is shown of each entity, but for its name; `momentum` as the entity has it now."""

    kinds: tuple[str, ...]
    memories: Whole
    layers: Mapping[str, Whole]
    pinned: Whole
    momentum: Numbers


def overview(
    sources: Sources,
    remembered: Remembered,
    tallies: Callable[[], Mapping[str, Tally]],
    request: OverviewRequest,
) -> Overview:
    """The page of entities that was asked for. Raises UsageError for a kind that is none."""
    _check(request)
    facts = remembered.facts(request.filters)
    reader = sources.reader()
    # What an entity is and how it is called does not change with the notes that are counted.
    named = Filters(
        include_archived=request.filters.include_archived, heads_only=request.filters.heads_only
    )
    columns = counted(facts, reader.kinds(named), remembered.momentum())
    order = ordered(columns, request)
    places = order[request.offset : request.offset + request.limit]
    names = reader.spellings([facts.keys[place] for place in places], named)
    last = last_accesses(facts, tallies())
    return Overview(
        tuple(_row(columns, place, names[facts.keys[place]], last[place]) for place in places),
        total=len(order),
        has_more=request.offset + len(places) < len(order),
    )


def counted(facts: EntityFacts, kinds: Mapping[str, str], momentum: Momentum) -> Columns:
    """Count the notes of each entity by what is shown of them."""
    import numpy as np

    layers = np.array([LAYERS.index(each) + 1 if each in LAYERS else 0 for each in facts.layers])
    pinned = facts.pinned | (note_importances(facts) >= c.PINNED_IMPORTANCE)
    same = momentum.facts is facts
    return Columns(
        kinds=tuple(kinds.get(key, OTHER) for key in facts.keys),
        memories=np.bincount(facts.entity, minlength=len(facts.keys)),
        layers={
            layer: per_entity(facts, layers == number).astype(np.int64)
            for number, layer in enumerate(LAYERS, 1)
        },
        pinned=per_entity(facts, pinned).astype(np.int64),
        momentum=momentum.of_keys
        if same
        else np.array([momentum.entity(key) for key in facts.keys]),
    )


def ordered(columns: Columns, request: OverviewRequest) -> list[int]:
    """Positions of the entities that were asked for: by momentum, then memories, then name.

    Names are compared as entities' keys are: without case, spaces and dashes.
    """
    import numpy as np

    wanted = columns.memories >= request.min_memories
    if request.kind is not None:
        wanted &= np.array([kind == request.kind for kind in columns.kinds], np.bool_)
    by_name = np.arange(len(wanted))  # keys are in order already
    order = np.lexsort((by_name, -columns.memories, -columns.momentum))
    found: list[int] = order[wanted[order]].tolist()
    return found


def last_accesses(facts: EntityFacts, tallies: Mapping[str, Tally]) -> list[int | None]:
    """When a note about each entity was read last, in milliseconds since 1970."""
    import numpy as np

    of_notes = np.full(len(facts.rows), -np.inf)
    if tallies:
        for place, identity in enumerate(facts.ids):
            if (tally := tallies.get(identity)) is not None:
                of_notes[place] = tally.last
    last = newest(facts, of_notes).tolist()
    return [None if moment == -np.inf else int(moment) for moment in last]


def _row(columns: Columns, place: int, name: str, last: int | None) -> EntityRow:
    momentum = float(columns.momentum[place])
    return EntityRow(
        name=name,
        kind=columns.kinds[place],
        memory_count=int(columns.memories[place]),
        layers={layer: int(counts[place]) for layer, counts in columns.layers.items()},
        pinned_count=int(columns.pinned[place]),
        momentum_score=momentum,
        momentum_band=momentum_band(momentum),
        last_access=last,
    )


def _check(request: OverviewRequest) -> None:
    if request.kind is not None and request.kind not in (*KINDS, OTHER):
        raise UsageError(
            f"`kind` is {request.kind!r}; it must be one of {', '.join((*KINDS, OTHER))}.",
            code="bad_parameter",
        )
