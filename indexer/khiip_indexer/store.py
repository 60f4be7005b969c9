"""Writes to the cache: every part of one change in one transaction."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.storage import facets, journal
from khiip_indexer.types import Capture, Fingerprint, ModelIdentity, Passage, Problem

if TYPE_CHECKING:
    from khiip_indexer.lexical.document import Texts


@dataclass(frozen=True, slots=True)
class Projected:
    """A capture with everything that follows from it: what one `put` writes, but for its `texts`.

    `edited` is when the content was made, as git or the file system tell, in seconds since 1970.
    """

    capture: Capture
    payload_json: str
    excerpt: str
    excerpt_from: str
    passages: Sequence[Passage]
    fingerprint: Fingerprint
    content_hash: bytes
    edited: int
    texts: Texts


# Remembered while hnswlib cannot be used, so that processes that only read can say so.
NO_GRAPH = "no_graph"

COLUMNS = (
    "path", "folder", "name", "size", "mtime_ns", "ctime_ns", "inode", "hash", "id",
    "declared_id", "derived_id", "url", "source", "title", "author", "description",
    "recorded_at", "recorded_at_from", "valid_from", "modified_at", "archived",
    "superseded_by", "supersedes", "head_id", "host", "layer", "altitude", "mem_type",
    "mem_state", "thread_id", "importance", "pinned", "excerpt", "excerpt_from",
    "payload_chars", "extraction_status", "user_tags", "entities",
)  # fmt: skip

_PUT = (
    f"INSERT INTO captures ({', '.join(COLUMNS)}) VALUES ({', '.join(':' + c for c in COLUMNS)}) "  # noqa: S608
    "ON CONFLICT (path) DO UPDATE SET "
    + ", ".join(f"{c} = excluded.{c}" for c in COLUMNS if c not in ("path", "id", "head_id"))
    + ", renamed = 0 RETURNING row"
)


def text_key(text: str) -> bytes:
    """The name of a text among the vectors: 128 bits of its SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def put(connection: sqlite3.Connection, model: str, note: Projected, *, moved: bool = False) -> int:
    """Store a capture under its path, in place of what was there; returns its row.

    Its texts for search go to `storage.texts.put_texts`, a batch at a time.
    A note that only moved keeps the vectors it has. Where its title is its file name they lack
    the new name's meaning: it is marked as renamed, and the next sync takes that in.
    """
    _log_edit(connection, note)
    row = int(connection.execute(_PUT, _values(note)).fetchone()[0])
    connection.execute("INSERT OR REPLACE INTO payloads VALUES (?, ?)", (row, note.payload_json))
    facets.put_facets(connection, row, note.capture)
    put_problems(connection, note.capture.path, "note", note.capture.problems)
    keys = [text_key(passage.text) for passage in note.passages]
    if not moved:
        _put_passages(connection, model, row, note.passages, keys)
        put_meta(connection, "pending", "yes")
    elif set(keys) != _keys_of(connection, row):
        connection.execute("UPDATE captures SET renamed = 1 WHERE row = ?", (row,))
    return row


def _log_edit(connection: sqlite3.Connection, note: Projected) -> None:
    path, at = note.capture.path, min(note.edited, int(time.time()))
    found = connection.execute("SELECT hash FROM captures WHERE path = ?", (path,)).fetchone()
    if found is None:
        journal.log(connection, journal.Edit(path, at, "created"))
    elif found[0] != note.content_hash:
        journal.log(connection, journal.Edit(path, at, "modified"))


def _values(note: Projected) -> dict[str, object]:
    capture, seen = note.capture, note.fingerprint
    folder, _, file = capture.path.rpartition("/")
    return {
        "path": capture.path,
        "folder": f"{folder}/" if folder else "",
        "name": file.rpartition(".")[0].casefold(),
        "size": seen.size,
        "mtime_ns": seen.mtime_ns,
        "ctime_ns": seen.ctime_ns,
        "inode": seen.inode,
        "hash": note.content_hash,
        "id": capture.declared_id or capture.derived_id,
        "head_id": capture.declared_id or capture.derived_id,
        "recorded_at": rfc3339(capture.recorded_at),
        "valid_from": rfc3339(capture.valid_from),
        "modified_at": rfc3339(capture.modified_at),
        "superseded_by": capture.superseded_by.target if capture.superseded_by else None,
        "supersedes": _json([pointer.target for pointer in capture.supersedes]),
        "excerpt": note.excerpt,
        "excerpt_from": note.excerpt_from,
        "payload_chars": len(note.payload_json),
        "user_tags": _json(capture.user_tags),
        "entities": _json(capture.entities),
        **{name: getattr(capture, name) for name in _COPIED},
    }


_COPIED = (
    "declared_id", "derived_id", "url", "source", "title", "author", "description",
    "recorded_at_from", "archived", "host", "layer", "altitude", "mem_type", "mem_state",
    "thread_id", "importance", "pinned", "extraction_status",
)  # fmt: skip


def _json(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def _put_passages(
    connection: sqlite3.Connection,
    model: str,
    row: int,
    passages: Sequence[Passage],
    keys: Sequence[bytes],
) -> None:
    before = _keys_of(connection, row)
    if before:
        connection.execute("DELETE FROM passages WHERE row = ?", (row,))
    connection.executemany(
        "INSERT INTO passages (row, ordinal, key, heading, line, text) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (row, passage.ordinal, key, passage.heading, passage.line, passage.text)
            for passage, key in zip(passages, keys, strict=True)
        ],
    )
    _retire(connection, model, before.difference(keys))
    _revive(connection, model, set(keys) - before)


def _keys_of(connection: sqlite3.Connection, row: int) -> set[bytes]:
    return {key for (key,) in connection.execute("SELECT key FROM passages WHERE row = ?", (row,))}


def ids_at(connection: sqlite3.Connection, path: str) -> set[str]:
    """The ids that the note at a path lays claim to."""
    rows = connection.execute(
        "SELECT declared_id, derived_id FROM captures WHERE path = ?", (path,)
    ).fetchall()
    return {identity for row in rows for identity in row if identity is not None}


def move(connection: sqlite3.Connection, old: str, new: str) -> None:
    """Give a stored note its new path; `put` then refreshes what follows from the path."""
    drop_problems(connection, old)
    connection.execute("UPDATE captures SET path = ? WHERE path = ?", (new, old))
    journal.log(connection, journal.Edit(new, int(time.time()), "renamed", old))


def touch(connection: sqlite3.Connection, path: str, seen: Fingerprint) -> None:
    """Remember a new fingerprint of a file whose content is the same."""
    connection.execute(
        "UPDATE captures SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ?",
        (seen.size, seen.mtime_ns, seen.ctime_ns, seen.inode, path),
    )


def remove(connection: sqlite3.Connection, model: str, path: str) -> None:
    """Forget a note; its vectors stay for a while, in case the text comes back."""
    found = connection.execute("SELECT row FROM captures WHERE path = ?", (path,)).fetchone()
    if found is None:
        return
    before = _keys_of(connection, found[0])
    connection.execute("DELETE FROM captures WHERE row = ?", found)
    drop_problems(connection, path)
    journal.log(connection, journal.Edit(path, int(time.time()), "deleted"))
    _retire(connection, model, before)


def _retire(connection: sqlite3.Connection, model: str, keys: Iterable[bytes]) -> None:
    """Take vectors out of the graph when no note holds their text any more."""
    for key in keys:
        if connection.execute("SELECT 1 FROM passages WHERE key = ?", (key,)).fetchone() is None:
            _log(
                connection,
                "UPDATE vectors SET orphaned_at = ? "
                "WHERE model = ? AND key = ? AND orphaned_at IS NULL RETURNING label",
                (int(time.time()), model, key),
                live=False,
            )


def _revive(connection: sqlite3.Connection, model: str, keys: Iterable[bytes]) -> None:
    for key in keys:
        _log(
            connection,
            "UPDATE vectors SET orphaned_at = NULL "
            "WHERE model = ? AND key = ? AND orphaned_at IS NOT NULL RETURNING label",
            (model, key),
            live=True,
        )


def put_vectors(
    connection: sqlite3.Connection, model: str, vectors: Sequence[tuple[bytes, bytes]]
) -> None:
    """Store new vectors as (key, float32 bytes) and log them for the graph."""
    for key, vector in vectors:
        _log(
            connection,
            "INSERT INTO vectors (model, key, vector) VALUES (?, ?, ?) "
            "ON CONFLICT DO NOTHING RETURNING label",
            (model, key, vector),
            live=True,
        )
        connection.execute("DELETE FROM failures WHERE model = ? AND key = ?", (model, key))


def _log(
    connection: sqlite3.Connection, statement: str, values: Sequence[object], *, live: bool
) -> None:
    labels = connection.execute(statement, values).fetchall()
    connection.executemany(
        "INSERT INTO vector_changes (label, live) VALUES (?, ?)",
        [(label, live) for (label,) in labels],
    )


def put_failure(connection: sqlite3.Connection, model: str, key: bytes, reason: str) -> None:
    """Count one more failed attempt to embed a text."""
    connection.execute(
        "INSERT INTO failures VALUES (?, ?, 1, ?) ON CONFLICT DO UPDATE "
        "SET attempts = attempts + 1, reason = excluded.reason",
        (model, key, reason),
    )


def forget_failures(connection: sqlite3.Connection, model: str, path: str) -> None:
    """Let a note's failed texts be tried again from the start."""
    connection.execute(
        "DELETE FROM failures WHERE model = ? AND key IN (SELECT key FROM passages "
        "JOIN captures USING (row) WHERE path = ?)",
        (model, path),
    )


def put_problems(
    connection: sqlite3.Connection, path: str, origin: str, problems: Iterable[Problem]
) -> None:
    """Replace the problems of one origin (`note`, `ids`, `chains`, `vault`) at one path."""
    connection.execute("DELETE FROM problems WHERE path = ? AND origin = ?", (path, origin))
    connection.executemany(
        "INSERT INTO problems (path, origin, line, code, reason, hint) VALUES (?, ?, ?, ?, ?, ?)",
        [(path, origin, p.line, p.code, p.reason, p.hint) for p in problems],
    )


def drop_problems(connection: sqlite3.Connection, path: str) -> None:
    """Forget everything that was wrong at a path."""
    connection.execute("DELETE FROM problems WHERE path = ?", (path,))


def replace_problems(
    connection: sqlite3.Connection, origin: str, problems: Iterable[Problem]
) -> None:
    """Replace every problem of one origin, wherever it was."""
    connection.execute("DELETE FROM problems WHERE origin = ?", (origin,))
    connection.executemany(
        "INSERT INTO problems (path, origin, line, code, reason, hint) VALUES (?, ?, ?, ?, ?, ?)",
        [(p.path, origin, p.line, p.code, p.reason, p.hint) for p in problems],
    )


def get_meta(connection: sqlite3.Connection, key: str) -> str | None:
    """A single remembered value."""
    found = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return found[0] if found else None


def put_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Remember a single value."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def drop_meta(connection: sqlite3.Connection, key: str) -> None:
    """Forget a single value."""
    connection.execute("DELETE FROM meta WHERE key = ?", (key,))


def identity_text(identity: ModelIdentity) -> str:
    """A model's identity as the cache remembers it; `identity_of` reads it."""
    return json.dumps(asdict(identity))


def identity_of(text: str) -> ModelIdentity:
    """The model that `identity_text` wrote down."""
    return ModelIdentity(**json.loads(text))


def vault_id(connection: sqlite3.Connection) -> str:
    """The vault's own name among sidecars, made on first use."""
    known = get_meta(connection, "vault_id")
    if known is None:
        known = uuid.uuid4().hex
        put_meta(connection, "vault_id", known)
    return known
