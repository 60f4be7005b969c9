"""Which captures changed their ids, until the access log has followed them. Plain SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from khiip_indexer.storage.access_rows import Renames


def log_id_changes(connection: sqlite3.Connection, changes: Renames) -> None:
    """Write down (old, new) pairs that take effect together: two captures may swap their ids."""
    found = connection.execute(
        "SELECT seq FROM sqlite_sequence WHERE name = 'id_changes'"
    ).fetchone()
    step = int(found[0]) if found else 0
    connection.executemany(
        "INSERT INTO id_changes (step, old, new) VALUES (?, ?, ?)",
        [(step, old, new) for old, new in changes],
    )


def id_changes(connection: sqlite3.Connection) -> list[tuple[int, list[tuple[str, str]]]]:
    """What was written down, in order: the number of a step's last change, and its pairs."""
    steps: dict[int, tuple[int, list[tuple[str, str]]]] = {}
    rows = connection.execute("SELECT change, step, old, new FROM id_changes ORDER BY change")
    for change, step, old, new in rows:
        pairs = steps[step][1] if step in steps else []
        pairs.append((old, new))
        steps[step] = (change, pairs)
    return list(steps.values())


def forget_id_changes(connection: sqlite3.Connection, steps: Sequence[tuple[int, Renames]]) -> None:
    """Forget what was followed."""
    if steps:
        connection.execute("DELETE FROM id_changes WHERE change <= ?", (steps[-1][0],))
