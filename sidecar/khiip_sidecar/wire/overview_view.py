"""The entity overview as it goes over the wire; pure."""

from __future__ import annotations

from datetime import UTC, datetime

from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.fields.memory import LAYERS
from khiip_sidecar.overview import EntityRow, Overview
from khiip_sidecar.wire.encode import Json


def overview_view(overview: Overview) -> Json:
    """A page of entities; fields are append-only."""
    return {
        "entities": [entity_view(row) for row in overview.entities],
        "total": overview.total,
        "has_more": overview.has_more,
    }


def entity_view(row: EntityRow) -> Json:
    """One entity; `last_access` is RFC 3339 UTC, or null when no note about it was ever read."""
    return {
        "name": row.name,
        "kind": row.kind,
        "memory_count": row.memory_count,
        **{f"{layer}_count": row.layers[layer] for layer in LAYERS},
        "pinned_count": row.pinned_count,
        "momentum_score": row.momentum_score,
        "momentum_band": row.momentum_band,
        "last_access": None if row.last_access is None else _moment(row.last_access),
    }


def _moment(milliseconds: int) -> str:
    return rfc3339(datetime.fromtimestamp(milliseconds // 1000, UTC))
