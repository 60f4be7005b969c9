"""What is marked in a text, and which part of it is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.lexical.highlight import Marker, marked, snippet
from khiip_indexer.lexical.stems import stems
from khiip_indexer.lexical.terms import terms


def shown(text: str, query: str, chars: int = 300) -> tuple[str, list[str]]:
    """The snippet, and what of it is marked."""
    cut = snippet(text, marked(text, Marker(terms(query))), chars)
    return cut.text, [cut.text[start:end] for start, end in cut.ranges]


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("A knot and another Knot.", "knots", ["knot", "Knot"]),
        ("Knots are knotted by knotters", "knot", ["Knots", "knotted"]),
        ("studies and studying, hoping", "study hope", ["studies", "studying", "hoping"]),
        ("the CAFÉ, a cafe\u0301", "cafe", ["CAFÉ", "cafe\u0301"]),
        ("ein ﬁnes Haus", "fines", ["ﬁnes"]),
        ("ein ﬁnes Haus", "fin", ["ﬁn"]),
        ("Straße", "strasse", ["Straße"]),
        ("see POL-358 now", "POL-358", ["POL", "358"]),
        ("C++ and c", "C++", ["C++"]),
        ("slipknots hold", "knots", ["knots"]),
        ("knots and slipknots", "knots", ["knots"]),
        ("東京の雨はとても冷たい", "東京の雨", ["東京の雨"]),
        ("東京と雨", "東京の雨", ["東京"]),
        ("それはいつですか", "期限はいつですか", []),
        ("雨が降る。雨だ", "雨", ["雨", "雨"]),
        ("🐘 in 𝔉raktur 🐘", "fraktur", ["𝔉raktur"]),
        ("how to tie a knot", "how do I tie it", ["tie"]),
        ("to be or not to be", "to be", ["to", "be", "to", "be"]),
        ("nothing here", "knot", []),
        ("", "knot", []),
        ("the less\nsafe knot", "the less safe knot", ["the less\nsafe knot"]),
    ],
)  # fmt: skip
def test_what_is_marked(text: str, query: str, marks: list[str]) -> None:
    assert shown(text, query) == (text, marks)


def test_ranges_count_code_points() -> None:
    cut = snippet("🐘🐘 knot", marked("🐘🐘 knot", Marker(terms("knot"))))
    assert cut.ranges == ((3, 7),)


def test_a_long_text_is_cut_at_words_around_its_matches() -> None:
    text = "filler words " * 60 + "here stands the bowline knot for you " + "more of it " * 60
    cut, marks = shown(text, "bowline knot", 120)
    assert marks == ["bowline", "knot"]
    assert len(cut) <= 122
    assert cut.startswith("…") and cut.endswith("…")
    assert all(word in text.split() for word in cut.strip("…").split())


def test_the_stretch_with_the_most_terms_is_shown() -> None:
    text = "knot. " + "filler words " * 60 + "a bowline is a knot. " + "filler words " * 60
    assert shown(text, "bowline knot", 100)[1] == ["bowline", "knot"]


def test_the_end_of_a_text_is_shown_without_a_sign_after_it() -> None:
    cut, marks = shown("filler words " * 60 + "the last knot", "knot", 100)
    assert cut.startswith("…") and cut.endswith("the last knot")
    assert marks == ["knot"]


def test_without_a_match_the_beginning_is_shown() -> None:
    cut, marks = shown("filler words " * 60, "knot", 100)
    assert (marks, cut[:12], cut[-1]) == ([], "filler words", "…")


def test_text_without_spaces_is_cut_between_characters() -> None:
    text = "かきくけこ" * 100 + "東京の雨" + "さしすせそ" * 100
    cut, marks = shown(text, "東京の雨", 100)
    assert marks == ["東京の雨"]
    assert 60 < len(cut) <= 102


@given(st.text(max_size=120), st.text(max_size=20), st.integers(10, 60))
def test_any_text_can_be_marked_and_cut(text: str, query: str, chars: int) -> None:
    cut, marks = shown(text, query, chars)
    assert all(marks)
    assert cut.removeprefix("…").removesuffix("…") in text


def test_stems_are_those_of_the_index() -> None:
    assert stems(["knots", "running", "東京"]) == {
        "knots": "knot",
        "running": "run",
        "東京": "東京",
    }
    assert stems([]) == {}
