"""A query as terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.lexical.terms import MOST_TERMS, Term, terms


def said(query: str) -> list[tuple[str, str]]:
    """The strong terms as (kind, text)."""
    return [(term.kind, term.text) for term in terms(query).strong]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Bowline knots", [("word", "bowline"), ("word", "knots")]),
        ("how do I tie a bowline?", [("word", "tie"), ("word", "bowline")]),
        ("who is who", [("word", "who"), ("word", "is")]),
        ("POL-358", [("phrase", "pol-358"), ("word", "pol"), ("word", "358")]),
        ("don't", [("phrase", "don't"), ("word", "don")]),
        ("38.101", [("phrase", "38.101"), ("word", "101")]),
        ("2026-03-14", [("phrase", "2026-03-14"), ("word", "2026")]),
        ("C++", [("literal", "c++")]),
        ("c#", [("literal", "c#")]),
        (".md", [("literal", ".md")]),
        ("learn C++ fast", [("word", "learn"), ("literal", "c++"), ("word", "fast")]),
        ('"unclosed', [("word", "unclosed")]),
        ("-quick", [("word", "quick")]),
        ("(", [("literal", "(")]),
        ("fox ( hole", [("word", "fox"), ("word", "hole")]),
        ("雨", [("run", "雨")]),
        ("東京", [("run", "東京")]),
        ("東京都", [("run", "東京都"), ("run", "東京"), ("run", "京都")]),
        ("DBへの接続", [("word", "db"), ("run", "への接続"), ("run", "の接"), ("run", "接続")]),
        ("مُحَمَّد", [("word", "مُحَمَّد")]),
        ("हिन्दी", [("word", "हिन्दी")]),
    ],
)  # fmt: skip
def test_what_is_looked_up(query: str, expected: list[tuple[str, str]]) -> None:
    assert said(query) == expected


@pytest.mark.parametrize("blank", ["", "   ", "\t\n", "\u3000", "\u200b"])
def test_blanks_have_no_terms(blank: str) -> None:
    assert terms(blank).items == ()


def test_a_question_in_japanese_is_cut_into_pairs() -> None:
    texts = [term.text for term in terms("報告書の提出期限はいつですか").strong]
    assert {"報告", "告書", "提出", "出期", "期限"} <= set(texts)
    assert "です" not in texts


def test_a_term_is_looked_up_once_and_not_too_many_are() -> None:
    assert len(terms("knot Knot KNOT").items) == 1
    many = terms(" ".join(f"word{n}" for n in range(1000)))
    assert len(many.items) == MOST_TERMS
    assert many.items[0] == Term("word0", "word")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("the spare key", True), ("spare key", False), ("2026-03-14", False), ("a - b", False),
        ("東京の雨は冷", True), ("東京の雨は", False),
    ],
)  # fmt: skip
def test_what_is_long_enough_to_be_meant_word_for_word(query: str, sentence: bool) -> None:
    assert terms(query).sentence is sentence


@pytest.mark.parametrize(
    ("query", "needed"),
    [
        ("quick ok", {"ok"}), ("東京 quick", set()), ("ok", set()), ("quick brown", set()),
        ("it is quick", set()), ("ai ui tools and many other words", set()),
    ],
)  # fmt: skip
def test_short_words_beside_few_others_are_needed(query: str, needed: set[str]) -> None:
    assert {term.text for term in terms(query).needed} == needed


@given(st.text())
def test_any_text_is_a_query(query: str) -> None:
    read = terms(query)
    assert len(read.items) <= MOST_TERMS
    assert all(term.text for term in read.items)
    assert bool(read.items) == bool(read.text)
