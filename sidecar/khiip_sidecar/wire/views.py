"""Answers as they go over the wire: every field's name and order; pure.

Lists of fields are append-only: a client may rely on the order and on every name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from khiip_indexer.config import Settings
from khiip_indexer.records import (
    STRUCTURED_SCHEMA_VERSION,
    CaptureRecord,
    IndexCounts,
    SyncReport,
)
from khiip_indexer.types import SOURCES, ModelIdentity, Problem
from khiip_sidecar.results import Health, RecallResult
from khiip_sidecar.wire.encode import Json, problem_view, to_json
from khiip_sidecar.worker import WorkerState

EXCERPT_CHARS = 500
BYTES_PER_TOKEN = 4


def lean_row(record: CaptureRecord, excerpt_chars: int = EXCERPT_CHARS) -> Json:
    """A capture as one flat row, without a score."""
    return {
        "id": record.id,
        "url": record.url,
        "source": record.source,
        "title": record.title,
        "author": record.author,
        "recorded_at": record.recorded_at,
        "vault_path": record.vault_path,
        "description": record.description,
        "excerpt": cut_excerpt(record.excerpt, excerpt_chars),
        "excerpt_from": record.excerpt_from,
        "payload_chars": record.payload_chars,
    }


def cut_excerpt(excerpt: str, most: int) -> str:
    """At most `most` characters of a stored excerpt, then one `…` when there was more.

    A stored excerpt is 500 characters, or 501 whose last is the `…` of a longer text.
    """
    if most == 0:
        return ""
    kept = excerpt[:-1] if len(excerpt) > EXCERPT_CHARS else excerpt
    if len(kept) <= most:
        return excerpt
    return f"{kept[:most]}…"


def full_capture(
    record: CaptureRecord,
    payload_json: str,
    problems: Sequence[Problem],
    importance: tuple[float, str],
) -> Json:
    """A capture with all its fields and its payload; `importance` and what it comes from."""
    return {
        **_written(record),
        "payload": json.loads(payload_json) if payload_json else None,
        "structured_schema_version": STRUCTURED_SCHEMA_VERSION,
        **_taken_in(record),
        **_remembered(record),
        "importance": importance[0],
        "importance_from": importance[1],
        "pinned": record.pinned,
        "problems": [problem_view(each) for each in problems],
    }


def _written(record: CaptureRecord) -> Json:
    """What a note is, and what it says of itself."""
    return {
        "id": record.id,
        "url": record.url,
        "source": record.source,
        "vault_path": record.vault_path,
        "title": record.title,
        "description": record.description,
        "author": record.author,
        "recorded_at": record.recorded_at,
        "valid_from": record.valid_from,
        "archived": record.archived,
        "superseded_by": record.superseded_by,
    }


def _taken_in(record: CaptureRecord) -> Json:
    """How a note became a capture."""
    return {
        "auto_metadata": {
            "host": record.host,
            # The year in which it came into the vault, as a filter by `since` sees it.
            "year": int(record.recorded_at[:4]),
            "filetype": "md",
        },
        "user_tags": list(record.user_tags),
        "archive_urls": {},
        "extraction_status": record.extraction_status,
        "extraction_error": record.extraction_error,
        "extraction_attempts": record.extraction_attempts,
        "recorded_at_from": record.recorded_at_from,
        "modified_at": record.modified_at,
    }


def _remembered(record: CaptureRecord) -> Json:
    """What a capture is about, and its place in a memory."""
    return {
        "entities": list(record.entities),
        "layer": record.layer,
        "altitude": record.altitude,
        "mem_type": record.mem_type,
        "mem_state": record.mem_state,
        "thread_id": record.thread_id,
    }


def tokens_of(row: Json) -> int:
    """What a row costs a language model, about: a token per four bytes of its JSON, rounded up.

    In English that is close; scripts of three bytes a character count most characters as one.
    """
    return -(-len(to_json(row)) // BYTES_PER_TOKEN)


def within_budget(rows: Iterable[Json], max_tokens: int | None) -> tuple[list[Json], int, bool]:
    """Rows in order until the next would pass the budget, at least one.

    Gives the rows, their tokens, and whether the budget left any out.
    """
    kept: list[Json] = []
    used = 0
    for row in rows:
        cost = tokens_of(row)
        if max_tokens is not None and kept and used + cost > max_tokens:
            return kept, used, True
        kept.append(row)
        used += cost
    return kept, used, False


def search_envelope(
    result: RecallResult, rows: list[Json], *, tokens: int, out_of_tokens: bool
) -> Json:
    """A page of hits; `degraded` is null, or what was not available, joined by commas."""
    more = result.has_more or out_of_tokens
    return {
        "query": result.query,
        "embedder_model": result.model.name,
        "embedder_dimension": result.model.dimension,
        "results": rows,
        "has_more": more,
        "stopped_by": "tokens" if out_of_tokens else "limit" if more else "end",
        "total_candidates": result.total_candidates,
        "approx_tokens": tokens,
        "offset": result.offset,
        "stale": result.stale,
        "degraded": ",".join(result.degraded) or None,
    }


def counts_view(counts: IndexCounts) -> Json:
    """How much of the vault can be found."""
    return {
        "notes": counts.notes,
        "searchable_by_text": counts.searchable_by_text,
        "searchable_by_meaning": counts.searchable_by_meaning,
        "pending": counts.pending,
        "problems": counts.problems,
        "vectors": counts.vectors,
        "generation": counts.generation,
        "last_reconcile": counts.last_reconcile,
    }


def health_view(health: Health, *, version: str, schema: int, db_path: str) -> Json:
    """The service's health; `reason` says why it is degraded."""
    return {
        "status": "degraded" if health.reason else "ok",
        "state": health.state,
        "version": version,
        "schema_version": schema,
        "db_path": db_path,
        "vault_id": health.vault_id,
        "extractors": [_extractor(each, health.counts.partial_by_source) for each in SOURCES],
        "index": counts_view(health.counts) | watcher_view(health),
        "reason": health.reason,
    }


def watcher_view(health: Health) -> Json:
    """How changes are noticed; `reason` is there while that is not by the system's events."""
    watcher = health.watcher
    return {
        "watcher": watcher.mode,
        "reason": watcher.reason,
        "watcher_restarts": watcher.restarts,
        "last_event_at": watcher.last_event_at,
        "offline_notes": health.counts.offline,
    }


def _extractor(source: str, partial: Mapping[str, int]) -> Json:
    """One kind of payload; a fallback is a note whose structure was not what its source has."""
    return {
        "source": source,
        "ok": True,
        "degraded_reason": None,
        "fallback_count": partial.get(source, 0),
    }


def meta_view(
    settings: Settings, address: tuple[str, int], embedder: Json, version: str, schema: int
) -> Json:
    """What a client must know before it asks: version, settings, model."""
    host, port = address
    return {
        "version": version,
        "schema_version": schema,
        "config": {"host": host, "port": port, "vault_path": str(settings.vault)},
        "extractors": list(SOURCES),
        "embedder": embedder,
    }


def embedder_view(
    model: ModelIdentity, coming: ModelIdentity | None, progress: tuple[int, int]
) -> Json:
    """The model whose vectors answer, and while another is on its way, which and how far."""
    view: Json = {"model": model.name, "dimension": model.dimension, "coming": None}
    if coming is not None:
        done, total = progress
        view["coming"] = {"model": coming.name, "dimension": coming.dimension}
        view["coming"] |= {"done": done, "total": total}
    return view


def index_view(work: WorkerState, counts: IndexCounts, problems: Iterable[Problem]) -> Json:
    """What the indexing thread does, what the index holds, and what is wrong in which note."""
    return {
        "state": work.state,
        "phase": work.phase,
        "done": work.done,
        "total": work.total,
        "rate": _rounded(work.rate),
        "seconds_left": _rounded(work.seconds_left),
        "path": work.path,
        "counts": counts_view(counts),
        "coverage": coverage_view(counts),
        "last_report": report_view(work.last_report) if work.last_report else None,
        "error": work.error,
        "problems": [problem_view(each) for each in problems],
    }


def coverage_view(counts: IndexCounts) -> Json:
    """How many of the vault's notes can be found by meaning, and why not the rest."""
    known = counts.notes + counts.offline_missing + counts.unreadable_missing
    without = max(0, counts.notes - counts.searchable_by_meaning - counts.failed)
    return {
        "notes": known,
        "searchable_by_text": counts.searchable_by_text,
        "searchable_by_meaning": counts.searchable_by_meaning,
        # Without an embedder nothing waits for a vector.
        "pending": min(without, counts.pending),
        "failed": counts.failed,
        "offline": counts.offline_missing,
        "unreadable": counts.unreadable_missing,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def report_view(report: SyncReport) -> Json:
    """What one sync did."""
    return {
        "seen": report.seen,
        "added": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "embedded": report.embedded,
        "failed": report.failed,
        "pending": report.pending,
        "with_problems": report.with_problems,
        "problems": [problem_view(each) for each in report.problems],
        "seconds": round(report.seconds, 3),
        "complete": report.complete,
        "outdated": report.outdated,
        "renamed": report.renamed,
    }
