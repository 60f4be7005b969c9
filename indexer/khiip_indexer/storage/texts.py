"""The words of every capture, folded for search, and the full-text tables over them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING

from khiip_indexer.lexical.stems import TOKENIZER

if TYPE_CHECKING:
    from khiip_indexer.lexical.document import Texts

# Names of columns in the order in which both full-text tables have them.
_COLUMNS = ("title", "headings", "tags", "author", "body")
_NAMES = ", ".join(_COLUMNS)
_TABLE_NAMES = ("words", "grams")


def _values(row: str, body: str) -> str:
    return ", ".join([f"{row}.row", *(f"{row}.{name}" for name in _COLUMNS[:-1]), body])


def _triggers(table: str, body: str) -> str:
    """Keep a full-text table in step with `texts`, also where a capture's rows are cascaded away.

    FTS5 takes a row out by its old text: it must be given word for word what it was put in by.
    """
    old, new = (_values(row, body.format(row)) for row in ("old", "new"))
    take = f"INSERT INTO {table} ({table}, rowid, {_NAMES}) VALUES ('delete', {old});"  # noqa: S608
    give = f"INSERT INTO {table} (rowid, {_NAMES}) VALUES ({new});"  # noqa: S608
    return f"""
CREATE TRIGGER IF NOT EXISTS {table}_put AFTER INSERT ON texts BEGIN {give} END;
CREATE TRIGGER IF NOT EXISTS {table}_drop AFTER DELETE ON texts BEGIN {take} END;
CREATE TRIGGER IF NOT EXISTS {table}_renew AFTER UPDATE ON texts BEGIN {take} {give} END;
"""


# Two tables over one text. `words` ranks: stemmed words, and pairs of characters where a script
# has no spaces. `grams` finds what is inside of words; it keeps no positions, which makes it a
# third of the size, so whoever asks it looks the text up in what it finds.
_TABLES = f"""
CREATE TABLE IF NOT EXISTS texts (
    row INTEGER PRIMARY KEY REFERENCES captures (row) ON DELETE CASCADE,
    title TEXT NOT NULL,
    headings TEXT NOT NULL,
    tags TEXT NOT NULL,
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    cut TEXT
);
CREATE VIEW IF NOT EXISTS worded AS
SELECT row, title, headings, tags, author, COALESCE(cut, body) AS body FROM texts;

CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    {_NAMES}, content = 'worded', content_rowid = 'row',
    tokenize = "{TOKENIZER}"
);
CREATE VIRTUAL TABLE IF NOT EXISTS grams USING fts5 (
    {_NAMES}, content = 'texts', content_rowid = 'row',
    tokenize = 'trigram case_sensitive 1', detail = none
);
"""  # noqa: S608

TABLES = (
    _TABLES + _triggers("words", "COALESCE({0}.cut, {0}.body)") + _triggers("grams", "{0}.body")
)

_STORED = (*_COLUMNS, "cut")
# Equal text writes nothing: the trigger does not fire for a row that no update touches.
_PUT = (
    f"INSERT INTO texts (row, {', '.join(_STORED)}) VALUES (?{', ?' * len(_STORED)}) "  # noqa: S608
    f"ON CONFLICT (row) DO UPDATE SET {', '.join(f'{n} = excluded.{n}' for n in _STORED)} "
    f"WHERE {' OR '.join(f'texts.{n} IS NOT excluded.{n}' for n in _STORED)}"
)


def put_text(connection: sqlite3.Connection, row: int, texts: Texts) -> None:
    """Store the searchable text of a capture in place of what was there."""
    connection.execute(_PUT, (row, *(getattr(texts, name) for name in _STORED)))


def faults(connection: sqlite3.Connection) -> Iterator[str]:
    """What can be seen to be wrong without writing: captures and tables that do not tally."""
    lost = "SELECT COUNT(*) FROM captures WHERE row NOT IN (SELECT row FROM texts)"
    if count := connection.execute(lost).fetchone()[0]:
        yield f"{count} captures cannot be found by text"
    for table in _TABLE_NAMES:
        known = f"SELECT id FROM {table}_docsize"  # noqa: S608
        count = sum(
            connection.execute(f"SELECT COUNT(*) FROM ({left} EXCEPT {right})").fetchone()[0]  # noqa: S608
            for left, right in (("SELECT row FROM texts", known), (known, "SELECT row FROM texts"))
        )
        if count:
            yield f"{count} rows of the text table {table} are not those of the captures"


def is_sound(connection: sqlite3.Connection) -> bool:
    """Whether both full-text tables hold exactly what `texts` does; reads all of it.

    FTS5 looks through itself by a statement that counts as a write: not for readers.
    """
    try:
        for table in _TABLE_NAMES:
            connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
    except sqlite3.DatabaseError:
        return False
    return True


def rebuild(connection: sqlite3.Connection) -> None:
    """Make both full-text tables anew from `texts`."""
    for table in _TABLE_NAMES:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608
