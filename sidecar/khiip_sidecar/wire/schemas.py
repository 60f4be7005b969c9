"""JSON Schemas of what `views` renders, field by field in its order; pure.

Every list of fields here is append-only. A test holds each real answer against its schema with
no field more and none less.
"""

from __future__ import annotations

from typing import get_args, get_type_hints

from khiip_indexer.fields.memory import LAYERS
from khiip_indexer.records import Phase, WatcherState
from khiip_indexer.types import SOURCES, ExtractionStatus, RecordedFrom
from khiip_sidecar.memory.constants import MOMENTUM_BANDS
from khiip_sidecar.wire.encode import Json
from khiip_sidecar.wire.typed import PAYLOADS, payload_schemas, reference
from khiip_sidecar.worker import State

TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer", "minimum": 0}
NUMBER: Json = {"type": "number"}
FLAG: Json = {"type": "boolean"}
TIME: Json = {"type": "string", "format": "date-time"}
SOURCE: Json = {"type": "string", "enum": list(SOURCES)}
SCORE: Json = {"type": "number", "minimum": -1, "maximum": 1}
TEXTS: Json = {"type": "array", "items": TEXT}


def schemas() -> dict[str, Json]:
    """Every named schema of the service."""
    return {**_ANSWERS, **payload_schemas()}


def record(of: dict[str, Json], optional: dict[str, Json] | None = None) -> Json:
    """An object with all of the fields `of`, perhaps with the optional ones; more may follow."""
    return {"type": "object", "properties": {**of, **(optional or {})}, "required": list(of)}


def closed(of: dict[str, Json], optional: dict[str, Json] | None = None) -> Json:
    """An object that will never have other fields."""
    return {**record(of, optional), "additionalProperties": False}


def perhaps(schema: Json) -> Json:
    """The same, or null."""
    if "type" not in schema or "enum" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def many(schema: Json) -> Json:
    """An array of such."""
    return {"type": "array", "items": schema}


def one_of(*texts: str) -> Json:
    """One of these words."""
    return {"type": "string", "enum": list(texts)}


_LEAN: dict[str, Json] = {
    "id": TEXT,
    "url": TEXT,
    "source": SOURCE,
    "title": TEXT,
    "author": perhaps(TEXT),
    "recorded_at": TIME,
    "vault_path": TEXT,
    "description": perhaps(TEXT),
    "excerpt": {**TEXT, "maxLength": 501},
    "excerpt_from": TEXT,
    "payload_chars": WHOLE,
}

_UNIT: Json = {"type": "number", "minimum": 0, "maximum": 1}

# What a hit says besides its score where that was asked for.
_TOLD: dict[str, Json] = {
    "weak": FLAG,
    "composite": _UNIT,
    "match_reasons": TEXTS,
    "score_breakdown": record(
        {"relevance": _UNIT, "heat": _UNIT, "momentum": _UNIT, "importance": _UNIT}
    ),
    "passage": reference("Passage"),
}

_ENTITY: dict[str, Json] = {
    "name": TEXT,
    "kind": TEXT,
    "memory_count": WHOLE,
    **{f"{layer}_count": WHOLE for layer in LAYERS},
    "pinned_count": WHOLE,
    "momentum_score": {"type": "number", "minimum": 0, "maximum": 10},
    "momentum_band": one_of(*(name for _, name in MOMENTUM_BANDS)),
    "last_access": perhaps(TIME),
}

_HISTORY: dict[str, Json] = {
    "paths_matched": many(record({"path": TEXT, "edits": WHOLE})),
    "total_edits": WHOLE,
    "first_edit": perhaps(TIME),
    "last_edit": perhaps(TIME),
    "sessions_involved": WHOLE,
    "daily_breakdown": many(record({"day": TEXT, "operation": TEXT, "edits": WHOLE})),
    "user_intents": many(record({"intent": TEXT, "when": TIME, "occurrences": WHOLE})),
    "linked_memories": many(
        record({"id": TEXT, "entity": perhaps(TEXT), "title": TEXT, "preview": TEXT})
    ),
    "history_state": TEXT,
}

_CAPTURE: dict[str, Json] = {
    "id": TEXT,
    "url": TEXT,
    "source": SOURCE,
    "vault_path": TEXT,
    "title": TEXT,
    "description": perhaps(TEXT),
    "author": perhaps(TEXT),
    "recorded_at": TIME,
    "valid_from": TIME,
    "archived": FLAG,
    "superseded_by": perhaps(TEXT),
    "payload": {"anyOf": [*(reference(each.__name__) for each in PAYLOADS), {"type": "null"}]},
    "structured_schema_version": WHOLE,
    "auto_metadata": record({"host": perhaps(TEXT), "year": {"type": "integer"}, "filetype": TEXT}),
    "user_tags": TEXTS,
    "archive_urls": {"type": "object", "additionalProperties": TEXT},
    "extraction_status": one_of(*get_args(ExtractionStatus)),
    "extraction_error": perhaps(TEXT),
    "extraction_attempts": WHOLE,
    "recorded_at_from": one_of(*get_args(RecordedFrom)),
    "modified_at": TIME,
    "entities": TEXTS,
    "layer": perhaps(TEXT),
    "altitude": perhaps(TEXT),
    "mem_type": perhaps(TEXT),
    "mem_state": perhaps(TEXT),
    "thread_id": perhaps(TEXT),
    "importance": {"type": "number", "minimum": 0, "maximum": 1},
    "importance_from": one_of("written", "inferred"),
    "pinned": FLAG,
    "problems": many(reference("Problem")),
}

# There only where it is true: the note has changed since it was indexed. Hits say it once, for all.
_CHANGED: dict[str, Json] = {"stale": FLAG}

_COUNTS: dict[str, Json] = {
    "notes": WHOLE,
    "searchable_by_text": WHOLE,
    "searchable_by_meaning": WHOLE,
    "pending": WHOLE,
    "problems": WHOLE,
    "vectors": WHOLE,
    "generation": WHOLE,
    "last_reconcile": perhaps(TIME),
}

_WATCHER: dict[str, Json] = {
    "watcher": one_of(*get_args(get_type_hints(WatcherState)["mode"])),
    "reason": perhaps(TEXT),
    "watcher_restarts": WHOLE,
    "last_event_at": perhaps(TIME),
    "offline_notes": WHOLE,
}

_COVERAGE: dict[str, Json] = {
    "notes": WHOLE,
    "searchable_by_text": WHOLE,
    "searchable_by_meaning": WHOLE,
    "pending": WHOLE,
    "failed": WHOLE,
    "offline": WHOLE,
    "unreadable": WHOLE,
}

_PROGRESS: dict[str, Json] = {
    "state": one_of(*get_args(State)),
    "phase": perhaps(one_of(*get_args(Phase))),
    "done": WHOLE,
    "total": WHOLE,
    "rate": perhaps(NUMBER),
    "seconds_left": perhaps(NUMBER),
    "path": perhaps(TEXT),
    "counts": record(_COUNTS),
    "coverage": record(_COVERAGE),
}

_COMING = record({"model": TEXT, "dimension": WHOLE, "done": WHOLE, "total": WHOLE})

_ANSWERS: dict[str, Json] = {
    "Error": closed({"detail": TEXT, "error": TEXT, "hint": perhaps(TEXT)}),
    "Problem": record(
        {
            "path": TEXT,
            "line": perhaps(WHOLE),
            "code": TEXT,
            "reason": TEXT,
            "hint": perhaps(TEXT),
        }
    ),
    "Capture": record(_CAPTURE, _CHANGED),
    "LeanCapture": record(_LEAN, _CHANGED),
    "LeanHit": record({**_LEAN, "score": SCORE}, _TOLD),
    "FullHit": record({"capture": reference("Capture"), "score": SCORE}, _TOLD),
    "Passage": record(
        {
            "text": TEXT,
            "heading": perhaps(TEXT),
            "line": perhaps(WHOLE),
            "score": perhaps(SCORE),
            "ranges": many({**many(WHOLE), "minItems": 2, "maxItems": 2}),
        }
    ),
    "Captures": many({"anyOf": [reference("Capture"), reference("LeanCapture")]}),
    "Recall": {
        "anyOf": [reference("Search"), reference("History"), reference("Overview")],
    },
    "Overview": record(
        {
            "entities": many(reference("Entity")),
            "total": WHOLE,
            "has_more": FLAG,
        }
    ),
    "Entity": record(_ENTITY),
    "History": record(
        _HISTORY,
        {"related_memories": many({"anyOf": [reference("FullHit"), reference("LeanHit")]})},
    ),
    "Search": record(
        {
            "query": perhaps(TEXT),
            "embedder_model": TEXT,
            "embedder_dimension": WHOLE,
            "results": many({"anyOf": [reference("FullHit"), reference("LeanHit")]}),
            "has_more": FLAG,
            "stopped_by": one_of("tokens", "limit", "end"),
            "total_candidates": WHOLE,
            "approx_tokens": WHOLE,
            "offset": WHOLE,
            "stale": FLAG,
            "degraded": perhaps(TEXT),
        }
    ),
    "Health": record(
        {
            "status": one_of("ok", "degraded"),
            "state": one_of(*get_args(State)),
            "version": TEXT,
            "schema_version": WHOLE,
            "db_path": TEXT,
            "vault_id": TEXT,
            "extractors": many(
                record(
                    {
                        "source": SOURCE,
                        "ok": FLAG,
                        "degraded_reason": perhaps(TEXT),
                        "fallback_count": WHOLE,
                    }
                )
            ),
            "index": record({**_COUNTS, **_WATCHER}),
            "reason": perhaps(TEXT),
        }
    ),
    "Meta": record(
        {
            "version": TEXT,
            "schema_version": WHOLE,
            "config": record({"host": TEXT, "port": WHOLE, "vault_path": TEXT}),
            "extractors": many(SOURCE),
            "embedder": record({"model": TEXT, "dimension": WHOLE, "coming": perhaps(_COMING)}),
        }
    ),
    "Progress": record({**_PROGRESS, "error": perhaps(TEXT)}),
    "Index": record(
        {
            **_PROGRESS,
            "last_report": {"anyOf": [reference("Report"), {"type": "null"}]},
            "error": perhaps(TEXT),
            "problems": many(reference("Problem")),
        }
    ),
    "IndexOptions": closed({}, {"full": FLAG, "accept_deletions": FLAG}),
    "Report": record(
        {
            "seen": WHOLE,
            "added": WHOLE,
            "changed": WHOLE,
            "moved": WHOLE,
            "removed": WHOLE,
            "unchanged": WHOLE,
            "embedded": WHOLE,
            "failed": WHOLE,
            "pending": WHOLE,
            "with_problems": WHOLE,
            "problems": many(reference("Problem")),
            "seconds": {"type": "number", "minimum": 0},
            "complete": FLAG,
            "outdated": WHOLE,
            "renamed": WHOLE,
        }
    ),
    "Description": {"type": "object", "required": ["openapi", "info", "paths"]},
}
