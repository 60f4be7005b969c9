"""Which spellings are one entity, and which are not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from khiip_indexer.fields.entity_names import entity_key


@pytest.mark.parametrize(
    "spellings",
    [
        ("Ada Lovelace", "ada lovelace", "ADA  LOVELACE", "ada-lovelace", "Ada_Lovelace"),
        ("Ada Lovelace", "AdaLovelace", "adaLovelace", " Ada Lovelace ", "ada\u2010lovelace"),
        ("Ada Lovelace", "People/Ada Lovelace", "People/Ada Lovelace.md", "a/b/ada-lovelace.MD"),
        ("Ada Lovelace", "Ada\u00a0Lovelace", "Ada\u200bLovelace", "\uff21da Lovelace"),
        ("J. R. R. Tolkien", "J.R.R. Tolkien", "j.r.r.tolkien"),
        ("O'Brien", "O\u2019Brien", "o`brien"),
        ("Caf\u00e9", "Cafe\u0301", "CAF\u00c9"),
        ("Stra\u00dfe", "STRASSE", "strasse"),
        ("\u304b\u3099\u304f", "\u304c\u304f"),
        ("Node.js", "node.js", "NODE.JS"),
        ("People/", "people"),
    ],
)
def test_spellings_of_one_name_have_one_key(spellings: tuple[str, ...]) -> None:
    assert len({entity_key(name) for name in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"),
        ("C", "C#"),
        ("Node.js", "Node"),
        ("Cafe", "Caf\u00e9"),
        ("O'Brien", "OBrien"),
        ("Ada", "Ada Lovelace"),
        ("https://a.example/b", "https://c.example/b"),
        ("---", "-"),
    ],
)
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert entity_key(one) != entity_key(other)


def test_only_a_blank_name_has_no_key() -> None:
    assert entity_key(" \n") == ""
    assert all(entity_key(name) for name in ("-", "_ _", "/", ".md", "a/.md", "\u2014"))


@given(st.text(max_size=20))
@example("a.md.md")
@example("a. md")
@example("\u2100/ /.md")
@example("-/-")
@example("\u02bc\u1fbd\u1ffd\u1fef")
def test_the_key_of_a_key_is_itself(name: str) -> None:
    key = entity_key(name)
    assert entity_key(key) == key
    assert entity_key(unicodedata.normalize("NFD", name)) == key
