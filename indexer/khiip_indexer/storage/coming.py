"""The vectors of another model on their way in, and the step in which they take over. Plain SQL.

While they are made, the passages and vectors of the model that answers stay as they are. What
the other model sees of the notes is kept beside them, and replaces them in one transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from khiip_indexer import store
from khiip_indexer.types import ModelIdentity, Passage

# Remembered while vectors of another model are made: that model, and by what notes were cut.
COMING = "coming"
_CUT_BY = "coming_cut"
# So long the vectors of a model that is not in use any more are kept.
KEEP_SECONDS = 30 * 24 * 3600

# Of passages as of those that are to take their place: a switch copies one table to the other.
PASSAGE_COLUMNS = """\
    passage INTEGER PRIMARY KEY,
    row INTEGER NOT NULL REFERENCES captures (row) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    key BLOB NOT NULL,
    heading TEXT,
    line INTEGER,
    text TEXT NOT NULL,
    UNIQUE (row, ordinal)"""

TABLES = (
    """
CREATE TABLE IF NOT EXISTS coming_notes (
    row INTEGER PRIMARY KEY REFERENCES captures (row) ON DELETE CASCADE,
    path TEXT NOT NULL,
    hash BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS coming (
"""
    + PASSAGE_COLUMNS
    + """
);
CREATE INDEX IF NOT EXISTS coming_by_key ON coming (key);
"""
)

Uncut = tuple[int, str, bytes, int, int, int, int]

_LACKING = (
    "SELECT COUNT(DISTINCT p.key) FROM coming p "
    "LEFT JOIN vectors v ON v.model = ?1 AND v.key = p.key "
    "LEFT JOIN failures f ON f.model = ?1 AND f.key = p.key "
    "WHERE v.label IS NULL AND f.key IS {}NULL"
)

# From the vectors to the texts: the other way round asks for each text's vector, and takes five
# times as long. It is asked whenever somebody watches the progress.
_MADE = (
    "SELECT COUNT(*) FROM vectors v WHERE v.model = ? "
    "AND EXISTS (SELECT 1 FROM coming c WHERE c.key = v.key)"
)


def coming_model(connection: sqlite3.Connection) -> ModelIdentity | None:
    """The model whose vectors are on their way, if there is one."""
    said = store.get_meta(connection, COMING)
    return store.identity_of(said) if said else None


def begin(connection: sqlite3.Connection, model: ModelIdentity, cut_by: str, now: int) -> None:
    """Go on with this model where it was left, or start from nothing.

    Its vectors of an earlier time count, however old: they are not to be pruned meanwhile.
    """
    said = store.identity_text(model)
    meta = store.get_meta(connection, COMING), store.get_meta(connection, _CUT_BY)
    if meta != (said, cut_by):
        forget(connection)
        store.put_meta(connection, COMING, said)
        store.put_meta(connection, _CUT_BY, cut_by)
    connection.execute(
        "UPDATE vectors SET orphaned_at = ? WHERE model = ? AND orphaned_at IS NOT NULL",
        (now, model.key),
    )


def forget(connection: sqlite3.Connection) -> None:
    """Nothing is on its way any more; vectors that were made are kept for a while."""
    connection.execute("DELETE FROM coming")
    connection.execute("DELETE FROM coming_notes")
    store.drop_meta(connection, COMING)
    store.drop_meta(connection, _CUT_BY)


def uncut(connection: sqlite3.Connection) -> list[Uncut]:
    """(row, path, content hash, size, three of its fingerprint) of notes still to be cut.

    Newest first; a note that was edited or moved since is one of them again.
    """
    return connection.execute(
        "SELECT c.row, c.path, c.hash, c.size, c.mtime_ns, c.ctime_ns, c.inode FROM captures c "
        "LEFT JOIN coming_notes n ON n.row = c.row AND n.path = c.path AND n.hash = c.hash "
        "WHERE n.row IS NULL ORDER BY c.modified_at DESC, c.row"
    ).fetchall()


def put(
    connection: sqlite3.Connection, note: tuple[int, str, bytes], passages: Sequence[Passage]
) -> None:
    """Store how the model on its way sees one note: (row, path, content hash) and its passages.

    A note that went or changed meanwhile is left for the next look.
    """
    found = connection.execute("SELECT path, hash FROM captures WHERE row = ?", note[:1]).fetchone()
    if found != note[1:]:
        return
    connection.execute("DELETE FROM coming WHERE row = ?", note[:1])
    connection.execute("INSERT OR REPLACE INTO coming_notes VALUES (?, ?, ?)", note)
    connection.executemany(
        "INSERT INTO coming (row, ordinal, key, heading, line, text) VALUES (?, ?, ?, ?, ?, ?)",
        [(note[0], p.ordinal, store.text_key(p.text), p.heading, p.line, p.text) for p in passages],
    )


def put_waiting(
    connection: sqlite3.Connection, model: str, vectors: Sequence[tuple[bytes, bytes]], now: int
) -> None:
    """Store vectors of the model on its way; no search finds them yet."""
    connection.executemany(
        "INSERT INTO vectors (model, key, orphaned_at, vector) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        [(model, key, now, vector) for key, vector in vectors],
    )
    connection.executemany(
        "DELETE FROM failures WHERE model = ? AND key = ?", [(model, key) for key, _ in vectors]
    )


def lacking(connection: sqlite3.Connection, model: str) -> tuple[int, int]:
    """How many texts have no vector of this model yet, and how many failed to get one."""
    untried = connection.execute(_LACKING.format(""), (model,)).fetchone()[0]
    failed = connection.execute(_LACKING.format("NOT "), (model,)).fetchone()[0]
    return int(untried), int(failed)


def progress(connection: sqlite3.Connection, model: str) -> tuple[int, int]:
    """How many texts have their vector of the model on its way, and how many there are."""
    total = int(connection.execute("SELECT COUNT(DISTINCT key) FROM coming").fetchone()[0])
    return int(connection.execute(_MADE, (model,)).fetchone()[0]), total


def under_way(connection: sqlite3.Connection) -> tuple[ModelIdentity | None, tuple[int, int]]:
    """The model on its way with its progress; (None, (0, 0)) when there is none."""
    model = coming_model(connection)
    return model, progress(connection, model.key) if model else (0, 0)


def take_over(connection: sqlite3.Connection, makers: dict[str, str], now: int) -> None:
    """Let the model that was on its way answer from here on, in the caller's transaction."""
    connection.execute("DELETE FROM passages")
    connection.execute(
        "INSERT INTO passages (row, ordinal, key, heading, line, text) "
        "SELECT row, ordinal, key, heading, line, text FROM coming ORDER BY row, ordinal"
    )
    forget(connection)
    for key, value in makers.items():
        store.put_meta(connection, key, value)
    settle(connection, makers["model_key"], now)


def settle(connection: sqlite3.Connection, model: str, now: int) -> None:
    """Make live what this model has of the stored passages, and nothing else.

    Every graph was made of other vectors: the log is cut, so that each is made anew.
    """
    connection.execute(
        "UPDATE vectors SET orphaned_at = ?1 WHERE orphaned_at IS NULL "
        "AND (model <> ?2 OR key NOT IN (SELECT key FROM passages))",
        (now, model),
    )
    connection.execute(
        "UPDATE vectors SET orphaned_at = NULL WHERE orphaned_at IS NOT NULL "
        "AND model = ? AND key IN (SELECT key FROM passages)",
        (model,),
    )
    store.drop_meta(connection, "graph")
    connection.execute("DELETE FROM vector_changes")
    connection.execute("INSERT INTO vector_changes (label, live) VALUES (0, 0)")
    connection.execute("DELETE FROM vector_changes")


def prune_others(connection: sqlite3.Connection, model: str, now: int) -> None:
    """Drop what other models made and nobody went back to for thirty days."""
    coming = coming_model(connection)
    keep = (model, coming.key if coming else model)
    connection.execute(
        "UPDATE vectors SET orphaned_at = ? WHERE model NOT IN (?, ?) AND orphaned_at IS NULL",
        (now, *keep),
    )
    connection.execute(
        "DELETE FROM vectors WHERE model NOT IN (?, ?) AND orphaned_at < ?",
        (*keep, now - KEEP_SECONDS),
    )
    connection.execute(
        "DELETE FROM failures WHERE model NOT IN (?, ?) OR (key NOT IN (SELECT key FROM passages) "
        "AND key NOT IN (SELECT key FROM coming))",
        keep,
    )


def drop_others(connection: sqlite3.Connection, model: str) -> int:
    """Drop everything that other models made, now; how many vectors that were."""
    forget(connection)
    return connection.execute("DELETE FROM vectors WHERE model <> ?", (model,)).rowcount
