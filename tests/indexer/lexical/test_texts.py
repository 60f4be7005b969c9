"""The full-text tables stay in step with the captures, whatever is done to these."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from houses import note
from indexer.lexical.texted import texted
from khiip_indexer.lexical.document import Texts
from khiip_indexer.storage import texts
from khiip_indexer.storage.schema import TABLES

WORDS = ["knot", "rope", "sea", "東京の雨", "café", "boat", "sail", "ビル", "wind", "salt"]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(TABLES)
        yield connection


def add_capture(connection: sqlite3.Connection, row: int) -> None:
    """A capture with nothing in it."""
    columns = connection.execute("PRAGMA table_info(captures)").fetchall()
    needed = [name for _, name, _, not_null, default, _ in columns if not_null and default is None]
    names = ["row", *(name for name in needed if name != "row")]
    connection.execute(
        f"INSERT INTO captures ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        (row, *[f"{row}"] * (len(names) - 1)),
    )


def text_of(rng: random.Random) -> Texts:
    body = " ".join(rng.choices(WORDS, k=rng.randint(0, 30)))
    cut = body.replace("東京の雨", "東京 京の の雨 雨") if rng.random() < 0.5 else None
    return Texts(rng.choice(WORDS), "", rng.choice(WORDS), "", body, cut)


def found(connection: sqlite3.Connection, table: str, word: str) -> set[int]:
    sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ?"
    return {row for (row,) in connection.execute(sql, (f'"{word}"',))}


def test_both_tables_are_sound_after_anything_that_happens(
    connection: sqlite3.Connection,
) -> None:
    rng = random.Random(7)
    there: set[int] = set()
    for step in range(400):
        row = rng.randint(1, 40)
        if row in there and rng.random() < 0.3:
            connection.execute("DELETE FROM captures WHERE row = ?", (row,))
            there.discard(row)
        else:
            if row not in there:
                add_capture(connection, row)
                there.add(row)
            texts.put_texts(connection, {row: text_of(rng)})
        if step % 100 == 50:
            connection.execute("VACUUM")
    assert texts.is_sound(connection)
    stored = {row for (row,) in connection.execute("SELECT row FROM texts")}
    assert stored == there
    for word in ("knot", "rope"):
        held = connection.execute(
            "SELECT row FROM texts WHERE instr(title || ' ' || tags || ' ' || body, ?)", (word,)
        )
        assert found(connection, "words", word) == {row for (row,) in held}


def test_a_capture_that_goes_takes_its_words_with_it(connection: sqlite3.Connection) -> None:
    add_capture(connection, 1)
    texts.put_texts(connection, {1: Texts("knot", "", "", "", "rope", None)})
    assert found(connection, "words", "rope") == found(connection, "grams", "rop") == {1}
    connection.execute("DELETE FROM captures WHERE row = 1")
    assert found(connection, "words", "rope") == found(connection, "grams", "rop") == set()
    assert texts.is_sound(connection)


def test_equal_text_writes_nothing(connection: sqlite3.Connection) -> None:
    add_capture(connection, 1)
    text = Texts("knot", "", "", "", "東京", "東京 京")
    texts.put_texts(connection, {1: text})
    before = connection.total_changes
    texts.put_texts(connection, {1: text})
    assert connection.total_changes == before
    texts.put_texts(connection, {1: Texts("knot", "", "", "", "rope", None)})
    assert connection.total_changes > before
    assert found(connection, "words", "東京") == set()


def test_tables_that_are_out_of_step_are_noticed_and_made_anew(
    connection: sqlite3.Connection,
) -> None:
    add_capture(connection, 1)
    texts.put_texts(connection, {1: Texts("knot", "", "", "", "rope", None)})
    connection.execute("UPDATE texts SET body = 'boat'")  # behind the back of `put_texts`
    assert not texts.is_sound(connection)
    texts.rebuild(connection)
    assert texts.is_sound(connection)
    assert found(connection, "words", "boat") == {1}
    assert found(connection, "words", "rope") == set()


def test_what_does_not_tally_is_told_to_readers_too(connection: sqlite3.Connection) -> None:
    for row in (1, 2):
        add_capture(connection, row)
        texts.put_texts(connection, {row: Texts("knot", "", "", "", "rope", None)})
    assert list(texts.faults(connection)) == []
    for table in ("words", "grams"):
        connection.execute(f"DROP TRIGGER {table}_drop")
    connection.execute("DELETE FROM texts WHERE row = 2")
    assert [fault.split()[0] for fault in texts.faults(connection)] == ["1", "1", "1"]


def test_what_a_note_is_searched_by(tmp_path: Path) -> None:
    body = "## Part One\n\nA *long*\nline.\n\n- [ ] a task\n\n東京の\n雨です\n\n```\ncode here\n```"
    written = note(body, title="My Title", tags="[a/b]", author="Ada", aliases="[Other]", about="X")
    with texted(tmp_path, {"file name": written}) as vault:
        row = vault.house.index.database.read().execute(
            "SELECT title, headings, tags, author, body, cut FROM texts"
        )
        title, headings, tags, author, stored, cut = row.fetchone()
    assert title.split("\n") == ["my title", "other", "file name"]
    assert (headings, author) == ("part one", "ada")
    assert tags.split("\n")[:2] == ["a/b", "x"]
    assert stored.split("\n") == ["a long line.", "a task", "東京の雨です", "code here", "about: x"]
    assert "東京 京の の雨 雨で です す" in cut
    assert "code here" in cut


def test_a_nul_does_not_end_a_text(tmp_path: Path) -> None:
    with texted(tmp_path, {"a": "abc\0def ghi"}) as vault:
        assert vault.found("ghi") == ["a"]
        assert vault.found("g\0hi abc\0") == ["a"]


def test_an_edit_a_rename_and_a_deletion_are_followed(tmp_path: Path) -> None:
    with texted(tmp_path, {"one": "first words", "two": "other words"}) as vault:
        vault.house.write("one.md", "second thoughts")
        vault.house.sync()
        assert vault.found("first") == []
        assert vault.found("second") == ["one"]
        (vault.house.settings.vault / "one.md").rename(vault.house.settings.vault / "three.md")
        vault.house.sync()
        assert vault.found("three") == ["three"]
        assert vault.found("one") == []
        vault.house.remove("three.md")
        vault.house.sync()
        assert vault.found("second") == []
