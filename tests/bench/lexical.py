"""Search by text at 10,000 and 100,000 notes: speed by kind of query, and bytes a note.

    python tests/bench/lexical.py [--rows FILE] [--notes 10000 100000]

Notes are made of the model's own vocabulary, common words as much more common than rare ones as
in a language; every tenth has text without spaces. Only the cache's tables are filled, no vault.
Figures are processor time: the median of 50 queries.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from khiip_indexer.lexical.document import Texts
from khiip_indexer.lexical.scripts import cut
from khiip_indexer.lexical.search import LexicalSearch
from khiip_indexer.lexical.terms import terms
from khiip_indexer.model import files
from khiip_indexer.storage import texts
from khiip_indexer.storage.schema import TABLES

QUERIES = 50
POOL = 100
WORDS = 100
BATCH = 64
ENDINGS = ["ing", "er", "ness", "berg", "field", "ton", "ist", "wood", "s"]
VISIBLE = ("c.is_head = 1 AND c.archived = 0", list[object]())
Row = tuple[str, str, str]


class Language:
    """Words and signs by how common they are."""

    def __init__(self, rng: random.Random) -> None:
        path = Path(files.__file__).with_name("data") / "vocab.txt"
        known = [w for w in path.read_text(encoding="utf-8").split("\n") if w.isalpha()]
        plain = [word for word in known if word.isascii() and len(word) > 1]
        made = [rng.choice(plain[2000:9000]) + rng.choice(ENDINGS) for _ in range(40_000)]
        self._rng = rng
        self._words = plain[:20_000] + made
        self._signs = [chr(0x4E00 + 7 * number) for number in range(2_000)]
        self._weights = list(itertools.accumulate(1 / (n + 2.7) for n in range(len(self._words))))
        self._sign_weights = list(itertools.accumulate(1 / (n + 5) for n in range(2_000)))

    def words(self, count: int) -> list[str]:
        return self._rng.choices(self._words, cum_weights=self._weights, k=count)

    def signs(self, count: int) -> str:
        return "".join(self._rng.choices(self._signs, cum_weights=self._sign_weights, k=count))


def fill(connection: sqlite3.Connection, notes: int, rng: random.Random) -> float:
    """Make the tables and put the notes in; milliseconds of processor a note."""
    language = Language(rng)
    connection.executescript(TABLES)
    columns = connection.execute("PRAGMA table_info(captures)").fetchall()
    needed = [name for _, name, _, strict, default, _ in columns if strict and default is None]
    names = ["row", "archived", *(name for name in needed if name not in ("row", "archived"))]
    sql = f"INSERT INTO captures ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    spent = 0.0
    for start in range(1, notes + 1, BATCH):
        batch: dict[int, Texts] = {}
        connection.execute("BEGIN")
        for row in range(start, min(notes + 1, start + BATCH)):
            connection.execute(sql, (row, 0, *[f"{row}"] * (len(names) - 2)))
            words = language.words(WORDS)
            signs = language.signs(WORDS) if row % 10 == 0 else ""
            body = f"{' '.join(words)}\n{signs}".strip()
            title = " ".join(words[:4])
            batch[row] = Texts(title, "", "tag", "", body, cut(body) if signs else None)
        began = time.process_time()
        texts.put_texts(connection, batch)
        spent += time.process_time() - began
        connection.execute("COMMIT")
    return 1000 * spent / notes


def queries(connection: sqlite3.Connection, rng: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Kinds of query with 50 of each, made of what the notes hold."""
    most = connection.execute("SELECT MAX(row) FROM texts").fetchone()[0]
    sql = "SELECT body FROM texts WHERE row = ?"
    rows = [10 * rng.randint(1, most // 10) for _ in range(QUERIES)]
    bodies = [connection.execute(sql, (row,)).fetchone()[0].split("\n") for row in rows]
    words = [body[0].split() for body in bodies]
    signs = [body[1] for body in bodies]
    longest = [max(each, key=len) for each in words]
    yield "five words", [" ".join(rng.sample(each, 5)) for each in words]
    yield "one word", [rng.choice(each) for each in words]
    yield "a sentence", [" ".join(each[20:32]) for each in words]
    yield "inside of a word", [word[1:-1] for word in longest]
    yield "two letters", [word[1:3] for word in longest]
    yield "one sign of Japanese", [each[5] for each in signs]
    yield "two signs", [each[5:7] for each in signs]
    yield "fifteen signs", [each[5:20] for each in signs]
    yield "an emoji", ["🐘"] * QUERIES


def timed(connection: sqlite3.Connection, asked: list[str]) -> float:
    """The median of what these queries take, in milliseconds of processor."""
    search = LexicalSearch(connection)
    spent = []
    for query in asked:
        began = time.process_time()
        search.run(terms(query), VISIBLE, POOL)
        spent.append(1000 * (time.process_time() - began))
    return statistics.median(spent)


def measured(folder: Path, notes: int) -> list[Row]:
    rng = random.Random(1)
    with closing(sqlite3.connect(folder / f"{notes}.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA cache_size = -8192")
        cost = fill(connection, notes, rng)
        sql = "SELECT SUM(pgsize) FROM dbstat WHERE name GLOB ? OR name GLOB ?"
        size = connection.execute(sql, ("words*", "grams*")).fetchone()[0] / notes
        text = connection.execute("SELECT AVG(length(body)) FROM texts").fetchone()[0]
        times = [(kind, timed(connection, asked)) for kind, asked in queries(connection, rng)]
    return [
        (
            f"Text tables, {notes:,} notes of {WORDS} words",
            f"{cost:.2f} ms of processor and {size:.0f} bytes a note beside {text:.0f} of text",
            "",
        ),
        (
            f"Search by text at {notes:,} notes, median of {QUERIES} queries",
            "; ".join(f"{kind} {spent:.1f} ms" for kind, spent in times),
            "goal: 10 ms for words, 1 s for a single character",
        ),
    ]


def main() -> None:
    """Measure and print, or write rows for `run.py`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--notes", type=int, nargs="*", default=[10_000, 100_000])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for notes in given.notes for row in measured(Path(folder), notes)]
    for what, figure, held_to in rows:
        print(f"{what}: {figure}{f' ({held_to})' if held_to else ''}")
    if given.rows:
        given.rows.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
