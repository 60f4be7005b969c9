"""Reads from the cache: rows to records."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import fields

from khiip_indexer.records import CaptureRecord, Filters
from khiip_indexer.storage.conditions import where
from khiip_indexer.storage.pieces import in_pieces
from khiip_indexer.types import Fingerprint, Problem

_COUNTED = ("extraction_error", "extraction_attempts", "seen")
_FINGERPRINT = ("size", "mtime_ns", "ctime_ns", "inode")
_STORED = tuple(
    "path" if field.name == "vault_path" else field.name
    for field in fields(CaptureRecord)
    if field.name not in _COUNTED
)
# The next version that was found wins over what is written, and also stands where only that
# version says what it replaces; a pointer that leads nowhere stays as it was written.
_READ_AS = {"superseded_by": "COALESCE(c.next_id, c.superseded_by)"}
_SELECT = ", ".join(_READ_AS.get(name, f"c.{name}") for name in (*_STORED, *_FINGERPRINT))

# A text that failed this often is not tried again until its note is read again on request.
MAX_ATTEMPTS = 3


def record_of(row: Sequence[object]) -> CaptureRecord:
    """Build the record of a row that was selected by `_SELECT`."""
    values = dict(zip(_STORED, row, strict=False))
    values["seen"] = Fingerprint(*row[len(_STORED) :])  # type: ignore[arg-type]
    values["vault_path"] = values.pop("path")
    for flag in ("archived", "pinned"):
        values[flag] = bool(values[flag])
    for texts in ("user_tags", "entities"):
        values[texts] = _texts(str(values[texts]))
    return CaptureRecord(**values, extraction_error=None, extraction_attempts=1)  # type: ignore[arg-type]


def _texts(stored: str) -> tuple[str, ...]:
    return () if stored == "[]" else tuple(json.loads(stored))


def page(
    connection: sqlite3.Connection, filters: Filters, limit: int | None, offset: int
) -> list[CaptureRecord]:
    """Captures that the filters let in, newest first."""
    condition, values = where(filters)
    rows = connection.execute(
        f"SELECT {_SELECT} FROM captures c WHERE {condition} "  # noqa: S608
        "ORDER BY c.recorded_at DESC, c.path LIMIT ? OFFSET ?",
        (*values, -1 if limit is None else limit, offset),
    )
    return [record_of(row) for row in rows]


def count(connection: sqlite3.Connection, filters: Filters) -> int:
    """How many captures the filters let in."""
    condition, values = where(filters)
    sql = f"SELECT COUNT(*) FROM captures c WHERE {condition}"  # noqa: S608
    return int(connection.execute(sql, values).fetchone()[0])


def by_id(connection: sqlite3.Connection, capture_id: str) -> CaptureRecord | None:
    """The capture with this id."""
    return _one(connection, "c.id = ?", capture_id)


def by_path(connection: sqlite3.Connection, path: str) -> CaptureRecord | None:
    """The capture of the note at this vault-relative path."""
    return _one(connection, "c.path = ?", path)


def _one(connection: sqlite3.Connection, condition: str, value: str) -> CaptureRecord | None:
    sql = f"SELECT {_SELECT} FROM captures c WHERE {condition}"  # noqa: S608
    row = connection.execute(sql, (value,)).fetchone()
    return record_of(row) if row else None


def by_rows(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, CaptureRecord]:
    """The captures of these rows."""
    sql = f"SELECT {_SELECT} FROM captures c WHERE c.row IN (:among)"  # noqa: S608
    records = map(record_of, in_pieces(connection, sql, rows))
    return {record.row: record for record in records}


def allowed(connection: sqlite3.Connection, rows: Sequence[int], filters: Filters) -> set[int]:
    """Which of these captures the filters let in."""
    condition, values = where(filters)
    sql = f"SELECT c.row FROM captures c WHERE c.row IN (:among) AND {condition}"  # noqa: S608
    return {row for (row,) in in_pieces(connection, sql, rows, after=values)}


Numbered = tuple[int, int, bytes]


def vectors_of_labels(
    connection: sqlite3.Connection, labels: Sequence[int], filters: Filters
) -> list[Numbered]:
    """(capture row, ordinal, vector) for every capture that holds one of these labels' texts."""
    condition, values = where(filters)
    sql = (
        "SELECT c.row, p.ordinal, v.vector FROM vectors v JOIN passages p ON p.key = v.key "  # noqa: S608
        f"JOIN captures c ON c.row = p.row WHERE v.label IN (:among) AND {condition}"
    )
    return list(in_pieces(connection, sql, labels, after=values))


def vectors_of_filters(
    connection: sqlite3.Connection, model: str, filters: Filters, size: int
) -> Iterator[list[Numbered]]:
    """(capture row, ordinal, vector) for everything the filters let in, in pieces of `size`."""
    condition, values = where(filters)
    cursor = connection.execute(
        "SELECT c.row, p.ordinal, v.vector FROM captures c JOIN passages p ON p.row = c.row "  # noqa: S608
        f"JOIN vectors v ON v.key = p.key AND v.model = ? WHERE {condition}",
        (model, *values),
    )
    while piece := cursor.fetchmany(size):
        yield piece


_OF_ROWS = (
    "SELECT p.row, p.ordinal, v.vector FROM passages p CROSS JOIN vectors v "
    "ON v.model = ? AND v.key = p.key WHERE p.row IN (:among)"
)


def has_vectors(connection: sqlite3.Connection, model: str) -> bool:
    """Whether any text that a note holds has a vector of this model."""
    sql = "SELECT 1 FROM vectors WHERE model = ? AND orphaned_at IS NULL LIMIT 1"
    return connection.execute(sql, (model,)).fetchone() is not None


def own_vectors(connection: sqlite3.Connection, model: str, rows: Sequence[int]) -> list[Numbered]:
    """(capture row, 0, vector of its embed text) for those of these captures that have one."""
    sql = f"{_OF_ROWS} AND p.ordinal = 0"
    return list(in_pieces(connection, sql, rows, before=(model,)))


def passages_of_rows(
    connection: sqlite3.Connection, model: str, rows: Sequence[int]
) -> list[Numbered]:
    """(capture row, ordinal, vector) of every passage of these captures."""
    return list(in_pieces(connection, _OF_ROWS, rows, before=(model,)))


def vector_of_capture(connection: sqlite3.Connection, model: str, row: int) -> bytes | None:
    """A capture's own vector: that of its embed text."""
    found = connection.execute(
        "SELECT v.vector FROM passages p JOIN vectors v ON v.key = p.key AND v.model = ? "
        "WHERE p.row = ? ORDER BY p.ordinal LIMIT 1",
        (model, row),
    ).fetchone()
    return found[0] if found else None


def payloads(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, str]:
    """The payloads of these captures, by row, exactly as the full view sends them."""
    return dict(in_pieces(connection, "SELECT row, json FROM payloads WHERE row IN (:among)", rows))


def embed_text(connection: sqlite3.Connection, row: int) -> str:
    """The text of a capture's first vector."""
    found = connection.execute(
        "SELECT text FROM passages WHERE row = ? AND ordinal = 0", (row,)
    ).fetchone()
    return str(found[0]) if found else ""


def failures(
    connection: sqlite3.Connection, model: str, rows: Sequence[int]
) -> dict[int, tuple[str, int]]:
    """(reason, attempts) of the worst failed text of each of these captures that has one."""
    sql = (
        "SELECT p.row, f.reason, f.attempts FROM passages p "
        "JOIN failures f ON f.key = p.key AND f.model = ? "
        "WHERE p.row IN (:among) ORDER BY f.attempts, p.ordinal DESC"
    )
    found = in_pieces(connection, sql, rows, before=(model,))
    return {row: (reason, attempts) for row, reason, attempts in found}


Stored = tuple[Fingerprint, bytes]


_FILES = "SELECT path, size, mtime_ns, ctime_ns, inode, hash FROM captures"


def stored_files(
    connection: sqlite3.Connection, under: Collection[str] | None = None
) -> dict[str, Stored]:
    """What is known of every indexed file: path -> (fingerprint, content hash).

    `under` limits it to these notes and whatever is in these folders.
    """
    if under is None:
        rows = connection.execute(_FILES).fetchall()
    else:
        some = " WHERE path = ? OR (path >= ? AND path < ?)"
        rows = [
            row
            for path in under
            for row in connection.execute(_FILES + some, (path, f"{path}/", f"{path}0"))
        ]
    return {
        path: (Fingerprint(size, mtime_ns, ctime_ns, inode), content)
        for path, size, mtime_ns, ctime_ns, inode, content in rows
    }


def count_files(connection: sqlite3.Connection) -> int:
    """How many files are indexed."""
    return int(connection.execute("SELECT COUNT(*) FROM captures").fetchone()[0])


def problems(
    connection: sqlite3.Connection, *, path: str | None = None, limit: int | None = None
) -> list[Problem]:
    """What is wrong, by path and line."""
    rows = connection.execute(
        "SELECT path, code, reason, line, hint FROM problems WHERE ?1 IS NULL OR path = ?1 "
        "ORDER BY path, line, problem LIMIT ?2",
        (path, -1 if limit is None else limit),
    )
    return [Problem(*row) for row in rows]


def problems_at(connection: sqlite3.Connection, paths: Sequence[str]) -> dict[str, list[Problem]]:
    """What is wrong at each of these paths, by line; paths without problems are left out."""
    rows = in_pieces(
        connection,
        "SELECT path, code, reason, line, hint FROM problems WHERE path IN (:among) "
        "ORDER BY path, line, problem",
        paths,
    )
    found: dict[str, list[Problem]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(Problem(*row))
    return found


def problems_of(connection: sqlite3.Connection, origin: str) -> list[Problem]:
    """What one origin found wrong."""
    rows = connection.execute(
        "SELECT path, code, reason, line, hint FROM problems WHERE origin = ? ORDER BY problem",
        (origin,),
    )
    return [Problem(*row) for row in rows]


def content_hash(connection: sqlite3.Connection, row: int) -> bytes | None:
    """The hash of the bytes that a capture was made of."""
    found = connection.execute("SELECT hash FROM captures WHERE row = ?", (row,)).fetchone()
    return found[0] if found else None


def pending(connection: sqlite3.Connection, model: str) -> int:
    """How many notes have a text that waits for its vector and may still get it."""
    found = connection.execute(
        "SELECT COUNT(DISTINCT p.row) FROM passages p "
        "LEFT JOIN vectors v ON v.model = ?1 AND v.key = p.key "
        "LEFT JOIN failures f ON f.model = ?1 AND f.key = p.key "
        "WHERE v.label IS NULL AND COALESCE(f.attempts, 0) < ?2",
        (model, MAX_ATTEMPTS),
    )
    return int(found.fetchone()[0])


def failed_notes(connection: sqlite3.Connection, model: str) -> list[Problem]:
    """One problem for each note with a text that could not be embedded."""
    rows = connection.execute(
        "SELECT c.path, p.line, f.reason, MAX(f.attempts) FROM failures f "
        "JOIN passages p ON p.key = f.key JOIN captures c ON c.row = p.row "
        "WHERE f.model = ? GROUP BY c.path ORDER BY c.path",
        (model,),
    )
    return [
        Problem(
            path=path,
            code="embedding_failed",
            reason=f"a part of this note could not be embedded ({attempts} tries): {reason}",
            line=line,
            hint="Try again with khiipd refetch --re-extract.",
        )
        for path, line, reason, attempts in rows
    ]


def misread(connection: sqlite3.Connection) -> set[str]:
    """Notes whose file could not be read the last time."""
    rows = connection.execute("SELECT DISTINCT path FROM problems WHERE origin = 'file'")
    return {path for (path,) in rows}


def renamed(connection: sqlite3.Connection) -> set[str]:
    """Notes whose vectors were made under another file name that was their title."""
    return {path for (path,) in connection.execute("SELECT path FROM captures WHERE renamed = 1")}


def forms(connection: sqlite3.Connection) -> dict[int, str]:
    """By row: captures that are hardly a text, and what they are instead."""
    rows = connection.execute("SELECT row, value FROM facets WHERE kind = 'form'")
    return dict(rows)
