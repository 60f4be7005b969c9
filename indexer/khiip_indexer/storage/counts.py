"""How much of the vault can be found, and how."""

from __future__ import annotations

import sqlite3

from khiip_indexer.records import IndexCounts
from khiip_indexer.storage.queries import MAX_ATTEMPTS
from khiip_indexer.store import get_meta

_MEANING = """
SELECT
    COUNT(DISTINCT CASE WHEN p.ordinal = 0 AND v.label IS NOT NULL THEN p.row END),
    COUNT(DISTINCT CASE WHEN v.label IS NULL THEN p.row END),
    COUNT(*)
FROM passages p LEFT JOIN vectors v ON v.key = p.key AND v.model = ?
"""

_FAILED = """
SELECT COUNT(DISTINCT p.row) FROM failures f JOIN passages p ON p.key = f.key
WHERE f.model = ? AND f.attempts >= ? AND p.ordinal = 0
"""

# Notes that are known and not indexed: their content is in the cloud, or cannot be read.
_OFFLINE = """
SELECT COUNT(*), COUNT(*) FILTER (WHERE value NOT IN (SELECT path FROM captures))
FROM json_each(?)
"""
_UNREADABLE = """
SELECT COUNT(DISTINCT path) FROM problems
WHERE code IN ('note_unreadable', 'read_timeout') AND path NOT IN (SELECT path FROM captures)
"""

_PARTIAL = """
SELECT source, COUNT(*) FROM captures WHERE extraction_status = 'partial'
GROUP BY source ORDER BY source
"""


# The key of the embedder that makes no vectors: no text waits for one.
NO_MODEL = "none::0:none:256"


def count_all(connection: sqlite3.Connection, model: str | None) -> IndexCounts:
    """Count everything that `/health` and `status` show."""
    by_source = dict(
        connection.execute("SELECT source, COUNT(*) FROM captures GROUP BY source ORDER BY source")
    )
    meaning, pending, passages = connection.execute(_MEANING, (model or "",)).fetchone()
    notes = sum(by_source.values())
    offline = connection.execute(_OFFLINE, (get_meta(connection, "offline") or "[]",)).fetchone()
    return IndexCounts(
        notes=notes,
        searchable_by_text=notes,
        searchable_by_meaning=meaning,
        pending=0 if model == NO_MODEL else pending,
        problems=_number(connection, "SELECT COUNT(*) FROM problems"),
        passages=passages,
        vectors=_number(
            connection,
            "SELECT COUNT(*) FROM vectors WHERE orphaned_at IS NULL AND model = ?",
            model or "",
        ),
        generation=int(get_meta(connection, "generation") or 0),
        last_reconcile=get_meta(connection, "last_reconcile"),
        by_source=by_source,
        partial_by_source=dict(connection.execute(_PARTIAL)),
        failed=_number(connection, _FAILED, model or "", MAX_ATTEMPTS),
        offline=offline[0],
        offline_missing=offline[1],
        unreadable_missing=_number(connection, _UNREADABLE),
    )


def _number(connection: sqlite3.Connection, sql: str, *values: object) -> int:
    return int(connection.execute(sql, values).fetchone()[0])
