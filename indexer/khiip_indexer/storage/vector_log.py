"""The log of vectors that became live or dead: how a graph follows the cache. Plain SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from khiip_indexer.storage.manifest import matches, may_differ, read_manifest
from khiip_indexer.store import get_meta
from khiip_indexer.types import ModelIdentity

# Remembered beside the vectors: the SHA-256 of the graph file that was made of them.
SAVED_GRAPH = "graph"

Change = tuple[int, int, int]

# Saving writes the whole graph: worth it when this many changes, or this part of it, are new.
_MANY = 256
_PART = 20


def last_seq(connection: sqlite3.Connection) -> int:
    """The number of the newest change ever logged."""
    found = connection.execute(
        "SELECT seq FROM sqlite_sequence WHERE name = 'vector_changes'"
    ).fetchone()
    return int(found[0]) if found else 0


def reachable(connection: sqlite3.Connection, seq: int) -> bool:
    """Whether the log still holds every row after `seq`, so that a graph there can catch up."""
    last = last_seq(connection)
    first = connection.execute("SELECT MIN(seq) FROM vector_changes").fetchone()[0]
    return seq == last or (first is not None and first <= seq + 1 <= last)


def changes_after(connection: sqlite3.Connection, seq: int) -> Iterator[list[Change]]:
    """(seq, label, became live) of everything after `seq`, in order, in pieces."""
    rows = connection.execute(
        "SELECT seq, label, live FROM vector_changes WHERE seq > ? ORDER BY seq", (seq,)
    ).fetchall()
    for start in range(0, len(rows), 500):
        yield rows[start : start + 500]


def live_at(connection: sqlite3.Connection, model: ModelIdentity, seq: int) -> set[int]:
    """The labels that were live at a log position: today's, less what the log did since."""
    live = {
        label
        for (label,) in connection.execute(
            "SELECT label FROM vectors WHERE model = ? AND orphaned_at IS NULL", (model.key,)
        )
    }
    since: dict[int, int] = {}
    for piece in changes_after(connection, seq):
        for _, label, became in piece:
            since.setdefault(label, became)
    for label, became in since.items():
        if became:
            live.discard(label)
        else:
            live.add(label)
    return live


def count_live(connection: sqlite3.Connection, model: ModelIdentity) -> int:
    """How many vectors a search may find."""
    return int(
        connection.execute(
            "SELECT COUNT(*) FROM vectors WHERE model = ? AND orphaned_at IS NULL", (model.key,)
        ).fetchone()[0]
    )


def save_is_due(connection: sqlite3.Connection, state: Path, model: ModelIdentity) -> bool:
    """Whether the graph on disk is damaged, or so far behind that saving is worth its cost."""
    manifest = read_manifest(state)
    if manifest is None or manifest.model != model.key:
        return count_live(connection, model) > 0
    if get_meta(connection, SAVED_GRAPH) != manifest.sha256:
        return True  # not the file that this index saved: another vault's, or from a backup
    if may_differ(state, manifest) and not matches(state, manifest):
        return True
    return last_seq(connection) - manifest.seq > max(_MANY, manifest.elements // _PART)
