"""The tables of `.khiip/cache.sqlite`."""

from __future__ import annotations

from khiip_indexer.storage import coming, commits, texts

# A vector belongs to a text (its hash) and a model, not to a note: equal texts share one, and a
# text that comes back finds its vector again. `label` is the vector's number in the graph.
_TABLES = (
    """
CREATE TABLE IF NOT EXISTS meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS captures (
    row INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    hash BLOB NOT NULL,
    id TEXT NOT NULL,
    declared_id TEXT,
    derived_id TEXT NOT NULL,
    url TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    author TEXT,
    description TEXT,
    recorded_at TEXT NOT NULL,
    recorded_at_from TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    modified_at TEXT NOT NULL,
    archived INTEGER NOT NULL,
    superseded_by TEXT,
    supersedes TEXT NOT NULL,
    next_id TEXT,
    head_id TEXT NOT NULL,
    is_head INTEGER NOT NULL DEFAULT 1,
    renamed INTEGER NOT NULL DEFAULT 0,
    host TEXT,
    layer TEXT,
    altitude TEXT,
    mem_type TEXT,
    mem_state TEXT,
    thread_id TEXT,
    importance REAL,
    pinned INTEGER NOT NULL,
    excerpt TEXT NOT NULL,
    excerpt_from TEXT NOT NULL,
    payload_chars INTEGER NOT NULL,
    extraction_status TEXT NOT NULL,
    user_tags TEXT NOT NULL,
    entities TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS captures_by_id ON captures (id);
CREATE INDEX IF NOT EXISTS captures_by_declared ON captures (declared_id)
    WHERE declared_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS captures_by_derived ON captures (derived_id);
CREATE INDEX IF NOT EXISTS captures_by_name ON captures (name);
CREATE INDEX IF NOT EXISTS captures_by_time ON captures (is_head, archived, recorded_at DESC, path);
CREATE INDEX IF NOT EXISTS captures_with_pointers ON captures (row)
    WHERE superseded_by IS NOT NULL OR supersedes <> '[]';
CREATE INDEX IF NOT EXISTS captures_in_chains ON captures (row)
    WHERE is_head = 0 OR next_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS captures_renamed ON captures (path) WHERE renamed = 1;

CREATE TABLE IF NOT EXISTS payloads (
    row INTEGER PRIMARY KEY REFERENCES captures (row) ON DELETE CASCADE,
    json TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS facets (
    row INTEGER NOT NULL REFERENCES captures (row) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (kind, value, row)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS facets_by_row ON facets (row);

CREATE TABLE IF NOT EXISTS passages (
"""
    + coming.PASSAGE_COLUMNS
    + """
);
CREATE INDEX IF NOT EXISTS passages_by_key ON passages (key, row, ordinal);

CREATE TABLE IF NOT EXISTS vectors (
    label INTEGER PRIMARY KEY AUTOINCREMENT,
    model TEXT NOT NULL,
    key BLOB NOT NULL,
    orphaned_at INTEGER,
    vector BLOB NOT NULL,
    UNIQUE (model, key)
);
CREATE INDEX IF NOT EXISTS vectors_orphaned ON vectors (orphaned_at)
    WHERE orphaned_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS vector_changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    label INTEGER NOT NULL,
    live INTEGER NOT NULL
);

CREATE TABLE IF NOT EXISTS failures (
    model TEXT NOT NULL,
    key BLOB NOT NULL,
    attempts INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (model, key)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS problems (
    problem INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    origin TEXT NOT NULL,
    line INTEGER,
    code TEXT NOT NULL,
    reason TEXT NOT NULL,
    hint TEXT
);
CREATE INDEX IF NOT EXISTS problems_by_path ON problems (path, origin);

CREATE TABLE IF NOT EXISTS git_dates (
    path TEXT PRIMARY KEY,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS journal (
    edit INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    at INTEGER NOT NULL,
    operation TEXT NOT NULL,
    from_path TEXT,
    edits INTEGER NOT NULL,
    UNIQUE (path, at, operation)
);
CREATE INDEX IF NOT EXISTS journal_by_time ON journal (at);

CREATE TABLE IF NOT EXISTS id_changes (
    change INTEGER PRIMARY KEY AUTOINCREMENT,
    old TEXT NOT NULL,
    new TEXT NOT NULL,
    step INTEGER NOT NULL
);
"""
)

TABLES = _TABLES + texts.TABLES + commits.TABLES + coming.TABLES
