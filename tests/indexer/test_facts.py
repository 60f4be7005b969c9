"""What of a note's frontmatter can be filtered by."""

from __future__ import annotations

from pathlib import Path

import pytest

from houses import note
from indexing import reindex
from khiip_indexer.fields.facts import KINDS, MAX_FACTS, MAX_VALUE_CHARS, kind_of, property_facts
from khiip_indexer.fields.metadata import Meta
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.storage.facets import (
    folded,
    folded_author,
    folded_tag,
    property_key,
    property_value,
)
from khiip_indexer.types import Value
from support import FakeEmbedder, make_vault


@pytest.mark.parametrize(
    ("metadata", "facts"),
    [
        ({"Due Date": "2025-01-31"}, {("duedate", ""), ("duedate", "2025-01-31")}),
        ({"a": ["x", "y"]}, {("a", ""), ("a", "x"), ("a", "y")}),
        ({"a": {"b": ["x"]}}, {("a", ""), ("a", "x")}),
        ({"a": None, "b": ""}, {("a", ""), ("b", "")}),
        ({"a": "[[Ada Lovelace|Ada]]"}, {("a", ""), ("a", "Ada Lovelace"), ("a", "Ada")}),
        ({"a": "see [[Ada]] there"}, {("a", ""), ("a", "see Ada there")}),
        ({"a": "x" * MAX_VALUE_CHARS}, {("a", ""), ("a", "x" * MAX_VALUE_CHARS)}),
        ({"a": "x" * (MAX_VALUE_CHARS + 1)}, {("a", "")}),
        ({"-": "x", "_": "y"}, set()),
        ({}, set()),
    ],
)  # fmt: skip
def test_each_value_of_each_property_is_a_fact(
    metadata: dict[str, Value], facts: set[tuple[str, str]]
) -> None:
    assert set(property_facts(metadata)) == facts


def test_a_note_full_of_properties_has_a_bounded_number_of_facts() -> None:
    wide: dict[str, Value] = {f"key {n}": [str(m) for m in range(10)] for n in range(1000)}
    deep: dict[str, Value] = {"key": [str(n) for n in range(100_000)]}
    for metadata in (wide, deep):
        assert len(property_facts(metadata)) == MAX_FACTS


@pytest.mark.parametrize("kind", KINDS)
def test_a_note_may_say_what_kind_of_thing_it_is(kind: str) -> None:
    assert kind_of(Meta({"kind": kind.upper()})) == kind
    assert kind_of(Meta({"type": kind})) == kind
    assert kind_of(Meta({"kind": "essay", "type": kind})) == kind
    assert kind_of(Meta({"kind": "essay"})) is None


def test_equal_things_are_stored_alike() -> None:
    assert folded("CAFÉ") == folded("Cafe\u0301") == folded("café")
    assert folded_tag(" #Sea/Tide/ ") == folded_tag("sea/tide")
    assert folded_author("@Ada") == folded_author("ada")
    assert property_value("Due-Date", "In  Progress") == property_value("due_date", "in progress")
    assert property_value("a", "b").startswith(property_key("A"))


def test_odd_characters_of_a_property_do_no_harm(tmp_path: Path) -> None:
    odd = r'"half \uD800 pair"'
    settings = make_vault(
        tmp_path / "v", {"odd.md": note("text", odd=odd, nul=r'"a\0b"', fine="yes")}
    )
    report = reindex(settings, FakeEmbedder())
    assert report.added == 1
    with VaultIndex.open(settings) as index:
        fine = Filters(properties=(("fine", "yes"), ("odd", None)))
        assert [each.vault_path for each in index.page(fine, limit=None)] == ["odd.md"]
