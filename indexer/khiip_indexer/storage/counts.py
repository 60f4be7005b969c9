"""How much of the vault can be found, and how."""

from __future__ import annotations

import sqlite3

from khiip_indexer.records import IndexCounts
from khiip_indexer.store import get_meta

_MEANING = """
SELECT
    COUNT(DISTINCT CASE WHEN p.ordinal = 0 AND v.label IS NOT NULL THEN p.row END),
    COUNT(DISTINCT CASE WHEN v.label IS NULL THEN p.row END),
    COUNT(*)
FROM passages p LEFT JOIN vectors v ON v.key = p.key AND v.model = ?
"""

_PARTIAL = """
SELECT source, COUNT(*) FROM captures WHERE extraction_status = 'partial'
GROUP BY source ORDER BY source
"""


def count_all(connection: sqlite3.Connection, model: str | None) -> IndexCounts:
    """Count everything that `/health` and `status` show."""
    by_source = dict(
        connection.execute("SELECT source, COUNT(*) FROM captures GROUP BY source ORDER BY source")
    )
    meaning, pending, passages = connection.execute(_MEANING, (model or "",)).fetchone()
    notes = sum(by_source.values())
    return IndexCounts(
        notes=notes,
        searchable_by_text=notes,
        searchable_by_meaning=meaning,
        pending=pending,
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
    )


def _number(connection: sqlite3.Connection, sql: str, *values: str) -> int:
    return int(connection.execute(sql, values).fetchone()[0])
