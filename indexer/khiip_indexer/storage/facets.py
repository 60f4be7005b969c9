"""What captures can be filtered by: one row for each tag, author and entity."""

from __future__ import annotations

import sqlite3

from khiip_indexer.types import Capture


def put_facets(connection: sqlite3.Connection, row: int, capture: Capture) -> None:
    """Write what a capture can be filtered by, in place of what was there."""
    authors = [capture.author, *capture.author.split(", ")] if capture.author else []
    wanted = {
        *(("tag", tag.casefold()) for tag in capture.user_tags),
        *(("author", author.casefold()) for author in authors),
        *(("entity", entity.casefold()) for entity in capture.entities),
    }
    connection.execute("DELETE FROM facets WHERE row = ?", (row,))
    connection.executemany(
        "INSERT OR IGNORE INTO facets (row, kind, value) VALUES (?, ?, ?)",
        [(row, kind, value) for kind, value in wanted],
    )
