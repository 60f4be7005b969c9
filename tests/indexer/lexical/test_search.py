"""Which notes a query finds by text, in which order, and why."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexer.lexical.texted import Texted, texted
from khiip_indexer.lexical.search import LexicalSearch, lifted, rarity
from khiip_indexer.lexical.terms import terms
from khiip_indexer.lexical.weights import Weights

CLUTTER = {f"clutter {n}": f"Words about boats and the sea, number {n}." for n in range(20)}
NOTES = {
    "bowline": "# Bowline\n\nHow to tie a bowline: the rabbit comes out of its hole.",
    "hitch": "# Clove hitch\n\nTie it around a post. Less safe than a bowline knot.",
    "list": "# Knots\n\n- bowline\n- hitch",
    "cafe": "Le Café de Zoë était fermé.",
    "code": "Some text.\n\n```python\ndef open_the_flowerpot(): pass\n```\n\n"
    "| a | b |\n|---|---|\n| tablecell | x |\n",
    "hidden": "Shown. %%secretcomment%% <!-- htmlcomment -->",
    "tagged": "---\ntags: [gardening/roses]\nauthor: Ada Lovelace\naliases: [The Green Note]\n---\n"
    "Nothing about it.",
    "source": "---\nurl: https://example.org/some-article\n---\nRead later.",
    **CLUTTER,
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Texted]:
    with texted(tmp_path_factory.mktemp("search"), NOTES) as vault:
        yield vault


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("bowline", "bowline"),
        ("how do I tie a bowline?", "bowline"),
        ("knots", "list"),
        ("knot", "list"),
        ("cafe zoe", "cafe"),
        ("CAFÉ", "cafe"),
        ("flowerpot", "code"),
        ("open_the_flowerpot", "code"),
        ("tablecell", "code"),
        ("gardening", "tagged"),
        ("lovelace", "tagged"),
        ("the green note", "tagged"),
        ("example.org", "source"),
        ("clove hitch", "hitch"),
        ("abbit com", "bowline"),
    ],
)
def test_what_comes_first(vault: Texted, query: str, first: str) -> None:
    assert vault.found(query)[0] == first


@pytest.mark.parametrize("query", ["secretcomment", "htmlcomment", "zzgibberish"])
def test_what_no_text_holds_finds_nothing(vault: Texted, query: str) -> None:
    assert vault.found(query) == []


def test_a_question_is_an_or_with_more_for_more_of_its_words(vault: Texted) -> None:
    hits = vault.hits("bowline rabbit hitch hammock")
    assert set(hits) == {"bowline", "hitch", "list"}
    assert 0 < hits["bowline"].share < 1


def test_scores_fall_and_stay_between_nought_and_one(vault: Texted) -> None:
    scores = [hit.score for hit in vault.hits("tie a bowline at sea").values()]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_a_note_found_inside_of_words_only_has_half(vault: Texted) -> None:
    (hit,) = vault.hits("lowerpo").values()
    assert (hit.score, hit.fts, hit.substring) == (0.5, False, True)


def test_a_word_is_found_both_ways_where_it_stands_as_typed(vault: Texted) -> None:
    hits = vault.hits("knots")
    assert (hits["list"].fts, hits["list"].substring) == (True, True)
    assert (hits["hitch"].fts, hits["hitch"].substring) == (True, False)  # by its stem


def test_the_title_is_told_apart(vault: Texted) -> None:
    assert vault.titled("clove hitch") == {"hitch"}
    assert {"list"} <= vault.titled("bowline knots")  # half of the query is enough
    assert "hitch" not in vault.titled("ove")  # inside of a word is not meant


def test_a_sentence_puts_its_note_first(vault: Texted) -> None:
    hits = vault.hits("Less safe than a Bowline  knot")
    first, *others = hits.values()
    assert next(iter(hits)) == "hitch"
    assert first.verbatim and first.score == 1.0
    assert not any(hit.verbatim or hit.score > 0.95 for hit in others)


def test_a_title_as_the_query_is_meant(vault: Texted) -> None:
    assert vault.hits("Knots")["list"].verbatim
    assert not vault.hits("Knots")["hitch"].verbatim


def test_the_condition_holds_for_every_hit(vault: Texted) -> None:
    only = ("c.title = ?", list[object](["Clove hitch"]))
    for query in ("bowline", "Less safe than a bowline knot", "lov", "sea", "("):
        assert set(vault.hits(query, only)) <= {"hitch"}
    assert set(vault.hits("bowline", only)) == {"hitch"}
    assert set(vault.hits("itc", only)) == {"hitch"}


def test_the_pool_bounds_the_hits(vault: Texted) -> None:
    assert len(vault.hits("boats", pool=5)) == 5
    assert len(vault.hits("oat", pool=5)) == 5
    assert vault.hits("boats", pool=0) == {}


def small(vault: Texted, query: str, budget: int, pool: int = 50) -> list[str]:
    """Hits where only so many postings may be ranked."""
    search = LexicalSearch(vault.house.index.database.read(), Weights(budget=budget))
    paths = vault.paths()
    found = search.run(terms(query), ("1", []), pool)
    return [paths[row].removesuffix(".md") for row in found]


def test_frequent_words_are_left_out_beside_rare_ones(vault: Texted) -> None:
    assert small(vault, "rabbit boats", budget=5, pool=1) == ["bowline"]
    assert small(vault, "rabbit boats", budget=5)[0] == "bowline"


def test_words_that_are_everywhere_still_find(vault: Texted) -> None:
    assert len(small(vault, "boats sea", budget=5, pool=10)) == 10
    assert len(small(vault, "boats", budget=5, pool=3)) == 3


def test_all_of_them_frequent_finds_what_holds_them_all(tmp_path: Path) -> None:
    notes = {f"one {n}": "alpha sand" for n in range(6)} | {f"two {n}": "omega" for n in range(6)}
    with texted(tmp_path, {"both": "alpha and omega", **notes}) as vault:
        assert small(vault, "alpha omega", budget=4)[0] == "both"
        assert small(vault, "alpha omega zzgibberish", budget=4)[0] == "both"


def test_a_word_that_the_query_says_twice_counts_twice(tmp_path: Path) -> None:
    with texted(tmp_path, {"one": "sand and more", "two": "wind and more"}) as vault:
        assert vault.found("sand or wind, and wind again")[0] == "two"
        assert vault.found("wind or sand, and sand again")[0] == "one"


def test_rarity_is_never_below_nought() -> None:
    assert rarity(10, 0) > rarity(10, 1) > rarity(10, 9) > rarity(10, 10) > 0
    assert rarity(10, 99) == rarity(10, 10)


@pytest.mark.parametrize(
    ("query", "name"), [("uick b", "n0"), ("ox c", "n0"), ("t Nam", "n8"), ("8 on", "n0")]
)
def test_words_that_are_broken_off_are_found_together(
    vault_of_scripts: Texted, query: str, name: str
) -> None:
    assert name in vault_of_scripts.found(query)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_any_three_visible_characters_in_a_row_find_their_note(
    rows: list[tuple[str, str]], vault_of_scripts: Texted, data: st.DataObject
) -> None:
    name, body = data.draw(st.sampled_from(rows))
    start = data.draw(st.integers(0, max(0, len(body) - 3)))
    query = body[start : start + data.draw(st.integers(3, 30))]
    if sum(_visible(char) for char in query) < 3 or "\n" in query.strip():
        return
    if unicodedata.category(query[0])[0] == "M" or _cuts_a_cluster(body, start + len(query)):
        return  # half of a character is not what anybody types
    assert name in vault_of_scripts.found(query), query


def _visible(char: str) -> bool:
    return unicodedata.category(char)[0] not in "ZC"


def _cuts_a_cluster(body: str, end: int) -> bool:
    return end < len(body) and unicodedata.category(body[end])[0] == "M"


@pytest.fixture(scope="module")
def rows() -> list[tuple[str, str]]:
    texts = [
        "The quick brown fox can't jump over POL-358 on 2026-03-14.",
        "東京の雨はとても冷たいので、傘を持って出かけました。",
        "報告書の提出期限は金曜日です。C++ と Rust を使う。",
        "Ünïcode Straße naïve ﬁsh — “quotes” and ’tis 50 % more",
        "مُحَمَّد يقرأ كتابًا جديدًا في المكتبة",
        "हिन्दी में लिखा हुआ एक छोटा वाक्य",
        "한국어 문장을 검색합니다",
        "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
        "Việt Nam được dịch sang tiếng Anh",
        "emoji 🐘🐘🐘 and ⇒ arrows → here ★★★",
    ]
    return [(f"n{number}", text) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def vault_of_scripts(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> Iterator[Texted]:
    with texted(tmp_path_factory.mktemp("scripts"), dict(rows)) as vault:
        yield vault


def test_a_word_of_most_notes_still_tells_a_little_beside_a_rare_one(tmp_path: Path) -> None:
    notes = {f"n{n}": f"The task of day {n}." for n in range(30)}
    with texted(tmp_path, {**notes, "both": "A task with a reminder.", "none": "Bread."}) as vault:
        hits = vault.hits("task reminder")
    assert next(iter(hits)) == "both"
    others = [hit.score for name, hit in hits.items() if name != "both"]
    assert len(others) == 30
    assert all(0.001 < score < hits["both"].score / 2 for score in others)


def test_what_fts5_gives_to_common_words_is_lifted_without_a_jump() -> None:
    worth = [lifted(1000, n) * max(1e-6, math.log((1000 - n + 0.5) / (n + 0.5))) for n in (1, 400)]
    common = [lifted(1000, n) * 1e-6 for n in (500, 700, 1000)]
    assert lifted(1000, 1) == lifted(1000, 400) == 1.0
    assert [*worth, *common] == sorted([*worth, *common], reverse=True)
    assert common[0] == pytest.approx(0.3 * rarity(1000, 500))
    below = lifted(1000, 499) * math.log(501.5 / 499.5)
    assert below == pytest.approx(common[0], rel=0.01)
