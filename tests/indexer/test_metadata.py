"""Values of a note's metadata, whatever shape they were written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.fields.metadata import Meta, normal_key, unwrap_wikilinks, wikilink_parts
from khiip_indexer.frontmatter import read_frontmatter
from khiip_indexer.types import Value


def meta(*lines: str) -> Meta:
    text = "\n".join(("---", *lines, "---", "Body"))
    return Meta(read_frontmatter(text.encode(), "a.md").metadata)


@pytest.mark.parametrize(
    "written", ["date created", "Date Created", "date_created", "date-created", "DATECREATED"]
)
def test_keys_are_compared_without_case_spaces_and_dashes(written: str) -> None:
    assert normal_key(written) == "datecreated"
    assert meta(f"{written}: x").text("date created") == "x"
    assert "date_created" in meta(f"{written}: x")


def test_the_first_name_that_has_a_value_wins() -> None:
    found = meta("date: 3", "created: 2", "Created: 9")
    assert found.first("recorded_at", "created", "date") == "2"


@pytest.mark.parametrize("empty", ["", "null", "~", "''", '"  "', "[]", "{}", "[null, '']"])
def test_a_key_that_says_nothing_counts_as_absent(empty: str) -> None:
    found = meta(f"title: {empty}", "name: Pump")
    assert found.first("title") is None
    assert found.text("title") is None
    assert found.text("title", "name") == "Pump"
    assert found.texts("title") == []
    assert found.tags("title") == []
    assert found.flag("title") is None
    assert found.number("title") is None
    assert "title" not in found


def test_an_empty_key_does_not_hide_the_same_key_spelled_otherwise() -> None:
    assert meta("Title:", "title: Pump").text("title") == "Pump"


class TestTexts:
    def test_a_list_a_text_and_a_number_are_all_texts(self) -> None:
        found = meta("a: [x, [y, null], 2024]", "b: one, two", "c: 7")
        assert found.texts("a") == ["x", "y", "2024"]
        assert found.texts("b") == ["one, two"]
        assert found.texts("c") == ["7"]
        assert found.text("a") == "x, y, 2024"

    def test_a_mapping_gives_way_to_the_next_name(self) -> None:
        assert meta("author: {name: Ann}", "by: Bo").text("author", "by") == "Bo"


class TestTags:
    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("tags:", []),
            ("tags: 2024", ["2024"]),
            ("tags: alpha, beta", ["alpha", "beta"]),
            ("tags: #foo", []),
            ('tags: [2024, null, "x y"]', ["2024", "x y"]),
            ("tags: [[a]]", ["a"]),
            ('tags: "#a #b/c"', ["a", "b/c"]),
            ('tags: "#a, [[L, A|la]], a"', ["a", "la"]),
            ('tags: ["Doe, Jane"]', ["Doe, Jane"]),
            ("tags: Boat day", ["Boat day"]),
            ("tags: {a: b}", []),
        ],
    )
    def test_tags_and_aliases_of_every_shape(self, line: str, expected: list[str]) -> None:
        assert meta(line).tags("tags") == expected
        assert meta(line.replace("tags", "aliases")).tags("alias", "aliases") == expected


class TestTyped:
    @pytest.mark.parametrize(
        ("text", "flag"),
        [("true", True), ("Yes", True), ("ON", True), ("false", False), ("no", False), ("x", None)],
    )
    def test_flags(self, text: str, flag: bool | None) -> None:
        assert meta(f"archived: {text}").flag("archived") is flag

    @pytest.mark.parametrize(
        ("text", "number"), [("0.8", 0.8), ("1e3", 1000.0), ("high", None), ("nan", None)]
    )
    def test_numbers(self, text: str, number: float | None) -> None:
        assert meta(f"importance: {text}").number("importance") == number


class TestWikilinks:
    @pytest.mark.parametrize(
        ("text", "target", "shown"),
        [
            ("[[Ada Lovelace|Ada]]", "Ada Lovelace", "Ada"),
            (" [[Ada]] ", "Ada", "Ada"),
            ("[[Tides#June^x|June]]", "Tides", "June"),
            ("[[#Here]]", "#Here", "#Here"),
            ("see [[Ada]]", "see [[Ada]]", "see [[Ada]]"),
            ("Ada", "Ada", "Ada"),
        ],
    )
    def test_target_and_shown_text(self, text: str, target: str, shown: str) -> None:
        assert wikilink_parts(text) == (target, shown)

    def test_links_in_a_text_give_way_to_what_a_reader_sees(self) -> None:
        assert unwrap_wikilinks("by [[Ada Lovelace|Ada]] & [[Bo]]") == "by Ada & Bo"
        assert unwrap_wikilinks("no link, [[open") == "no link, [[open"


values: st.SearchStrategy[Value] = st.recursive(
    st.none() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=8), values, max_size=4))
def test_no_value_raises_and_no_text_is_blank(metadata: dict[str, Value]) -> None:
    found = Meta(metadata)
    for key in metadata:
        assert all(t.strip() for t in (*found.texts(key), *found.tags(key)))
        found.text(key)
        found.flag(key)
        found.number(key)
