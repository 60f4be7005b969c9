"""Words to stems, by SQLite's own rules, so that what is marked is what was found."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing

# How `words` splits and stems what it is given; marks belong to the letter that they stand on.
TOKENIZER = "porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'"


def stems(words: Collection[str]) -> dict[str, str]:
    """The stem of each folded word, as the full-text table `words` keeps it."""
    if not words:
        return {}
    known = list(words)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f'CREATE VIRTUAL TABLE w USING fts5 (word, tokenize = "{TOKENIZER}")')
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab (w, instance)")
        connection.executemany("INSERT INTO w (rowid, word) VALUES (?, ?)", enumerate(known))
        rows = connection.execute("SELECT doc, term FROM v").fetchall()
    return {known[place]: stem for place, stem in rows}
