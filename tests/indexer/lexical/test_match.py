"""MATCH strings: one place builds them, and nothing that was typed is syntax."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexer.lexical.texted import Texted, texted
from khiip_indexer.errors import UsageError
from khiip_indexer.lexical import match
from khiip_indexer.lexical.search import LexicalSearch
from khiip_indexer.lexical.terms import terms
from khiip_indexer.storage.schema import TABLES

ROOT = Path(__file__).parents[3]
NOTES = {
    "fox": "The quick brown fox: a *lazy* tale of 100% speed",
    "dog": "# Dogs\n\nA lazy dog sleeps. It wasn't quick.",
    "tokyo": "東京都の雨 and a fox",
    "cafe": "Le Café de Zoë",
}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Texted]:
    with texted(tmp_path, NOTES) as vault:
        yield vault


@pytest.fixture(scope="module")
def empty() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    yield connection
    connection.close()


def test_no_other_code_builds_match_strings() -> None:
    """Elsewhere MATCH stands in SQL only, and what it is given comes as a bound value."""
    for path in sorted([*ROOT.glob("indexer/**/*.py"), *ROOT.glob("sidecar/**/*.py")]):
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(r"\b(?:words|grams)\s+MATCH\s*(\S)", text):
            assert found[1] == "?", path
        if path.name != "match.py":
            assert "replace('\"', '\"\"')" not in text, path
            assert "NEAR(" not in text, path


def by_expression(vault: Texted, text: str) -> list[str]:
    connection = vault.house.index.database.read()
    expression = match.check_fts5(connection, text)
    found = LexicalSearch(connection).run_match(expression, ("1", []), 50)
    return sorted(vault.paths()[row].removesuffix(".md") for row in found)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("quick AND brown", ["fox"]),
        ("quick NOT brown", ["dog"]),
        ("brown OR sleeps", ["dog", "fox"]),
        ("Quick", ["dog", "fox"]),
        ('"lazy dog"', ["dog"]),
        ("sle*", ["dog"]),
        ("title:dog", ["dog"]),
        ("headings:dogs", ["dog"]),
        ("title : fox", ["fox"]),
        ("NEAR(quick fox, 3)", ["fox"]),
        ("(quick OR dog) AND lazy", ["dog", "fox"]),
        ("東京", ["tokyo"]),
        ("東京都", ["tokyo"]),
        ('"京都の雨" AND fox', ["tokyo"]),
        ("CAFÉ", ["cafe"]),
        ("zoë OR sleeps", ["cafe", "dog"]),
        ("nothing", []),
    ],
)
def test_an_expression_means_what_fts5_says(
    vault: Texted, expression: str, expected: list[str]
) -> None:
    assert by_expression(vault, expression) == expected


@pytest.mark.parametrize(
    "expression",
    ['"unclosed', "AND", "quick AND", "NEAR(", "(", "^", ".md", "nosuch:x", "a - b", "*"],
)
def test_a_wrong_expression_is_refused_in_words(empty: sqlite3.Connection, expression: str) -> None:
    with pytest.raises(UsageError) as refused:
        match.check_fts5(empty, expression)
    error = refused.value
    assert error.code == "bad_match_expression"
    assert error.hint is not None and "title" in error.hint
    assert not re.search(r"fts5:|no such column|sqlite|SELECT", error.sentence)


@pytest.mark.parametrize("blank", ["", "  "])
def test_an_empty_expression_is_an_empty_query(empty: sqlite3.Connection, blank: str) -> None:
    with pytest.raises(UsageError) as refused:
        match.check_fts5(empty, blank)
    assert refused.value.code == "empty_query"


def test_a_failure_of_the_index_is_not_a_fault_of_the_expression() -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        match.check_fts5(sqlite3.connect(":memory:"), "quick")


def matching(vault: Texted, phrase: str) -> list[str]:
    condition, values = match.phrase_condition(phrase)
    sql = f"SELECT c.path FROM captures c WHERE {condition} ORDER BY c.path"
    rows = vault.house.index.database.read().execute(sql, values)
    return [path.removesuffix(".md") for (path,) in rows]


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("lazy dog", ["dog"]), ("LAZY  dog", ["dog"]), ("dog lazy", []), ("100%", ["fox"]),
        ("ick bro", ["fox"]), ("京都の", ["tokyo"]), ("雨", ["tokyo"]), ("zo", ["cafe"]),
        ("cafe de", ["cafe"]), ("wasn’t", ["dog"]), ("Dogs", ["dog"]), ("%", ["fox"]),
        ("", ["cafe", "dog", "fox", "tokyo"]), (" ", ["cafe", "dog", "fox", "tokyo"]),
        ("the quick brown fox: a lazy tale of 100% speed", ["fox"]), ("_", []),
    ],
)  # fmt: skip
def test_a_phrase_is_found_as_it_stands(vault: Texted, phrase: str, expected: list[str]) -> None:
    assert matching(vault, phrase) == expected


@given(st.text(max_size=40))
def test_free_text_is_never_a_syntax_error(empty: sqlite3.Connection, text: str) -> None:
    LexicalSearch(empty).run(terms(text), ("1", []), 10)
    condition, values = match.phrase_condition(text)
    empty.execute(f"SELECT 1 FROM captures c WHERE {condition}", values).fetchall()


@given(st.text(alphabet='ab"*^():{}+-,東京é NOTANDRE\0', max_size=20))
def test_an_expression_runs_or_is_refused(empty: sqlite3.Connection, text: str) -> None:
    try:
        match.check_fts5(empty, text)
    except UsageError as error:
        assert error.code in ("bad_match_expression", "empty_query")
