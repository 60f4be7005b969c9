"""Tells whether a cache is what we wrote, before it is opened for writing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from khiip_indexer.formats import SCHEMA_VERSION
from khiip_indexer.storage.database import connect, version_of
from khiip_indexer.storage.schema import TABLES


def looks_like_database(path: Path) -> bool:
    """Whether the file is absent, empty, or starts as SQLite's files do: cheap."""
    try:
        with path.open("rb") as file:
            return file.read(16) in (b"SQLite format 3\0", b"")
    except FileNotFoundError:
        return True


def is_whole(path: Path) -> bool:
    """Whether SQLite can read the file throughout, and finds the tables that we make.

    A newer version's file is not ours to judge.
    """
    try:
        with closing(connect(path, "ro")) as connection:
            if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
                return False
            version, ours = version_of(connection), _our_layout()
            if version < SCHEMA_VERSION:
                return _layout(connection) <= ours  # tables that came later are still missing
            return version > SCHEMA_VERSION or _layout(connection) == ours
    except sqlite3.Error:
        return False


def _our_layout() -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript(TABLES)
        return _layout(fresh)


def _layout(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Every (table, column)."""
    return set(
        connection.execute(
            "SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p "
            "WHERE m.type = 'table'"
        )
    )
