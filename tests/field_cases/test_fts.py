"""Queries with punctuation, failures of the text search, NULs: what people type and have."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from indexer.lexical.texted import texted
from khiip_indexer.lexical.search import LexicalSearch
from khiip_indexer.lexical.terms import terms

QUERIES = [
    "POL-358", "2026-05-08", "don't", "C++", '"unclosed', "AND", "NOT x", "NEAR(", "a*", "(", "^",
    ".md", "title:x", "-quick", "state-of-the-art", "38.101", "c#", "100%", "@someone", "#tag/x",
]  # fmt: skip


def test_b39_punctuation_is_only_text(tmp_path: Path) -> None:
    notes = {f"n{n}": f"this one says {query} in its text" for n, query in enumerate(QUERIES)}
    with texted(tmp_path, {**notes, "other": "nothing of that kind"}) as vault:
        for number, query in enumerate(QUERIES):
            assert f"n{number}" in vault.found(query), query
            assert "other" not in vault.found(query), query


@pytest.mark.parametrize("blank", ["", "   "])
def test_b39_blank_text_finds_nothing_and_is_no_error(tmp_path: Path, blank: str) -> None:
    with texted(tmp_path, {"a": "text"}) as vault:
        assert vault.found(blank) == []


@pytest.mark.parametrize("lost", ["words", "grams", "texts"])
def test_b40_a_failure_is_said_and_never_an_empty_list(lost: str) -> None:
    from khiip_indexer.storage.schema import TABLES

    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    connection.execute(f"DROP TABLE {lost}")
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        LexicalSearch(connection).run(terms("state-of-the-art pump"), ("1", []), 10)


def test_b13_a_nul_or_half_an_emoji_is_only_text(tmp_path: Path) -> None:
    with texted(tmp_path, {"n": "abc\0def ghi", "m": "a cat"}) as vault:
        assert vault.found("ghi") == ["n"]
        assert vault.found("gh\0") == ["n"]
        assert vault.found("a \ud83d cat") == ["m"]
