"""The words of every capture, folded for search, and the full-text tables over them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from khiip_indexer.lexical.stems import TOKENIZER

if TYPE_CHECKING:
    from khiip_indexer.lexical.document import Texts

# Names of columns in the order in which both full-text tables have them.
_COLUMNS = ("title", "headings", "tags", "author", "body")
_NAMES = ", ".join(_COLUMNS)
_TABLE_NAMES = ("words", "grams")


def _trigger(table: str, body: str) -> str:
    """Take a capture's words out of a full-text table when its text is cascaded away.

    FTS5 takes a row out by its old text: it must be given word for word what it was put in by.
    """
    old = ", ".join(["old.row", *(f"old.{name}" for name in _COLUMNS[:-1]), body])
    return f"""
CREATE TRIGGER IF NOT EXISTS {table}_drop AFTER DELETE ON texts BEGIN
    INSERT INTO {table} ({table}, rowid, {_NAMES}) VALUES ('delete', {old});
END;
"""  # noqa: S608


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

TABLES = _TABLES + _trigger("words", "COALESCE(old.cut, old.body)") + _trigger("grams", "old.body")

_STORED = (*_COLUMNS, "cut")
_READ = f"SELECT row, {', '.join(_STORED)} FROM texts WHERE row = ?"  # noqa: S608
# No REPLACE: where SQLite is built so, that fires the triggers of a deletion.
_PUT = (
    f"INSERT INTO texts (row, {', '.join(_STORED)}) "  # noqa: S608
    f"VALUES (?{', ?' * len(_STORED)}) ON CONFLICT (row) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _STORED)
)
_MARKS = ", ".join("?" * (len(_COLUMNS) + 1))
Row = tuple[object, ...]


def put_texts(connection: sqlite3.Connection, texts: Mapping[int, Texts]) -> None:
    """Store the searchable text of captures, by row, in place of what was there.

    Equal text writes nothing. A whole batch is put at once, each table by one kind of statement
    and not by triggers: FTS5 writes out all that it has gathered whenever a statement begins that
    can be taken back by itself, and a segment for each note takes six times as long.
    """
    wanted = [(row, *(getattr(text, name) for name in _STORED)) for row, text in texts.items()]
    known = {row: connection.execute(_READ, (row,)).fetchone() for row in texts}
    new = [row for row in wanted if row != known[row[0]]]
    old = [known[row[0]] for row in new if known[row[0]] is not None]
    connection.executemany(_PUT, new)
    for table, form in (("words", _worded), ("grams", _written)):
        take = f"INSERT INTO {table} ({table}, rowid, {_NAMES}) VALUES ('delete', {_MARKS})"  # noqa: S608
        give = f"INSERT INTO {table} (rowid, {_NAMES}) VALUES ({_MARKS})"  # noqa: S608
        connection.executemany(take, map(form, old))
        connection.executemany(give, map(form, new))


def _written(row: Row) -> Row:
    return row[:-1]


def _worded(row: Row) -> Row:
    *rest, body, cut = row
    return (*rest, body if cut is None else cut)


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
