"""Meaning and words as one relevance: by hand, and what holds for all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.lexical.search import LexicalHit
from khiip_indexer.search import Meaning
from khiip_sidecar.ranking.fusion import (
    VERBATIM,
    WORDS_WEIGHT,
    WORDS_WEIGHT_WEAK,
    Signals,
    cosine,
    fused,
    is_weak,
    reasons,
)
from khiip_sidecar.ranking.language import is_weak_language


def words(score: float = 0.8, share: float = 1.0, **said: bool) -> LexicalHit:
    flags = {"fts": True, "substring": False, "verbatim": False} | said
    return LexicalHit(score=score, share=share, **flags)


def test_the_best_passage_counts_twice_as_much_as_the_whole_note() -> None:
    assert cosine(Meaning(own=0.3, best=0.6)) == pytest.approx(0.5)
    assert cosine(Meaning(own=None, best=0.6)) == pytest.approx(0.6)
    assert cosine(Meaning(own=-0.9, best=-0.3)) == 0
    assert cosine(None) == 0


def test_relevance_by_hand() -> None:
    both = Signals(Meaning(0.5, 0.5), words(0.8, share=1.0))
    assert fused(both, WORDS_WEIGHT) == pytest.approx(0.7 * 0.5 + 0.3 * 0.8)
    half = Signals(Meaning(0.5, 0.5), words(0.8, share=0.5))
    assert fused(half, WORDS_WEIGHT) == pytest.approx(0.35 + 0.24 * 0.5**0.4, abs=1e-6)
    assert fused(Signals(Meaning(0.5, 0.5)), WORDS_WEIGHT) == pytest.approx(0.35)
    assert fused(Signals(words=words(1.0)), WORDS_WEIGHT) == pytest.approx(0.3)
    assert fused(Signals(), WORDS_WEIGHT) == 0


def test_where_the_model_knows_nothing_words_are_all_but_alone() -> None:
    near = Signals(Meaning(0.9, 0.9), words(0.5, share=0.2))
    said = Signals(Meaning(0.1, 0.1), words(0.6, share=0.2))
    assert fused(said, WORDS_WEIGHT_WEAK) > fused(near, WORDS_WEIGHT_WEAK)
    assert fused(near, WORDS_WEIGHT) > fused(said, WORDS_WEIGHT)


UNIT = st.floats(0, 1)
COSINES = st.floats(-1, 1)
MEANINGS = st.none() | st.builds(Meaning, own=st.none() | COSINES, best=COSINES)
HITS = st.none() | st.builds(LexicalHit, UNIT, st.booleans(), st.booleans(), st.booleans(), UNIT)
SIGNALS = st.builds(Signals, MEANINGS, HITS)
WEIGHTS = st.sampled_from([WORDS_WEIGHT, WORDS_WEIGHT_WEAK])


@given(SIGNALS, SIGNALS, WEIGHTS)
def test_relevance_is_a_part_of_one_and_verbatim_comes_first(
    one: Signals, other: Signals, weight: float
) -> None:
    assert 0 <= fused(one, weight) <= 1
    if one.verbatim and not other.verbatim:
        assert fused(one, weight) >= VERBATIM >= fused(other, weight)


def test_what_no_word_and_no_meaning_speaks_for_is_weak() -> None:
    assert is_weak(Signals(Meaning(0.2, 0.2)), floor=0.24)
    assert not is_weak(Signals(Meaning(0.2, 0.24)), floor=0.24)
    assert not is_weak(Signals(Meaning(0.0, 0.0), words(0.1)), floor=0.24)
    assert is_weak(Signals(), floor=0.24)


def test_reasons_are_given_only_where_they_are_true() -> None:
    assert reasons(Signals(Meaning(0.1, 0.3)), 0.24) == ("semantic_match",)
    assert reasons(Signals(Meaning(0.1, 0.1)), 0.24) == ()
    both = Signals(words=words(fts=True, substring=True, verbatim=True))
    assert reasons(both, 0.24, titled=True) == ("content_match_dual", "title_match", "verbatim")
    assert reasons(both, 0.24) == ("content_match_dual", "verbatim")
    inside = words(fts=False, substring=True)
    assert reasons(Signals(words=inside), 0.24) == ("content_substring",)
    assert reasons(Signals(words=words()), 0.24) == ("content_match_fts",)


@pytest.mark.parametrize(
    ("query", "weak"),
    [
        ("knots on cords", False),
        ("Über die Knoten", False),
        ("ｆｕｌｌ width", False),
        ("データベースの接続", True),
        ("узлы на верёвках", True),
        ("DB への接続を張る", True),
        ("knots 結び", True),
        ("knots in cords 結び", False),
        ("Redis 持久化", True),
        ("如何安装 MySQL", True),
        ("Java 并发", True),
        ("PostgreSQL узлы", False),
        ("12:30 !!", False),
        ("", False),
    ],
)
def test_the_script_tells_whether_the_model_knows_the_language(query: str, weak: bool) -> None:
    assert is_weak_language(query, "all-MiniLM-L6-v2") is weak
    assert not is_weak_language(query, "a multilingual model")


def test_what_is_hardly_a_text_counts_half_unless_it_was_asked_for_by_name() -> None:
    meaning = Meaning(0.5, 0.5)
    text = fused(Signals(meaning, words()), WORDS_WEIGHT)
    for form in ("links", "template"):
        assert fused(Signals(meaning, words(), form=form), WORDS_WEIGHT) == pytest.approx(text / 2)
        named = Signals(meaning, words(verbatim=True, meant=True), form=form)
        assert fused(named, WORDS_WEIGHT) == fused(Signals(meaning, words(verbatim=True)), 0.3)
    sentence = words(verbatim=True)
    assert not Signals(meaning, sentence, form="links").verbatim
    assert Signals(meaning, sentence, form="template").verbatim
