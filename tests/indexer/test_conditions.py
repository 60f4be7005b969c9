"""Filters in SQL against the same filters said in plain words, on a real index."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from houses import note
from indexing import reindex
from khiip_indexer.fields.entity_names import entity_key
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.storage import conditions, queries
from support import FakeEmbedder, make_vault, write_note

NOTES = {
    "Papers/2024/Knots.md": note(
        "The quipu kept accounts.\n\n## Cords and colours\n\nA knot on a cord.",
        tags="[sea/tide, Physics]",
        author="Ada Lovelace, Bo",
        created="2024-02-03",
        status="done",
        project='"[[Ada Lovelace|Ada]]"',
        layer="warning",
        altitude="mission",
        mem_type="decision",
        thread_id="T-1",
        source="https://example.org/a",
    ),
    "Papers/2024/Tide.md": note(
        "The moon pulls the sea.",
        tags="[sea]",
        author='"@bo"',
        created="2025-01-15",
        Status="[open, In Progress]",
        entity="Moon Landing",
        layer="goal",
        state="in progress",
        source="https://arxiv.org/pdf/1",
    ),
    "archive/Café.md": note(
        "Old coffee.", tags="seaside", created="2023-05-06", status='""', author="Roe, Una; Li,Wei"
    ),
    "archived notes/x.md": note(
        "Not in the archive folder.", created="2023-05-07", author='["Smith, J", "Doe, Jane"]'
    ),
    "archive/deep/Moon_Landing.md": note(
        "About it.", type="project", aliases="[Apollo 11]", created="2022-01-01", status="done"
    ),
    "Kept away.md": note("The sea again.", archived="true", tags="sea", created="2021-01-01"),
    "100%_a.md": note("Signs in a name.", created="2020-01-01", **{"due date": "2025-01-31"}),
}
LEFT = set(NOTES) - {"Kept away.md"}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    settings = make_vault(tmp_path_factory.mktemp("conditions") / "v", NOTES)
    reindex(settings, FakeEmbedder())
    with VaultIndex.open(settings) as opened:
        yield opened


def filtered(**values: Any) -> Filters:
    """Filters by the names of their fields."""
    return Filters(**values)


def let_in(index: VaultIndex, filters: Filters) -> set[str]:
    """Paths that pass; counting must agree with listing."""
    found = [record.vault_path for record in index.page(filters, limit=None)]
    assert index.total(filters) == len(found) == len(set(found))
    return set(found)


KNOTS, TIDE = "Papers/2024/Knots.md", "Papers/2024/Tide.md"
CAFE, DEEP = "archive/Café.md", "archive/deep/Moon_Landing.md"
NEAR, SIGNS = "archived notes/x.md", "100%_a.md"

CASES = [
    ("sources", ("web",), {KNOTS}),
    ("sources", ("web", "pdf"), {KNOTS, TIDE}),
    ("tags", ("sea",), {KNOTS, TIDE}),
    ("tags", ("#Sea/Tide",), {KNOTS}),
    ("tags", ("physics", "seaside"), {KNOTS, CAFE}),
    ("tags", ("se",), set()),
    ("folders", ("archive",), {CAFE, DEEP}),
    ("folders", ("Archive",), {CAFE, DEEP}),
    ("folders", ("archive/deep", "Papers"), {DEEP, KNOTS, TIDE}),
    ("folders", ("pap",), set()),
    ("folders", ("",), LEFT),
    ("authors", ("ada lovelace",), {KNOTS}),
    ("authors", ("Bo",), {KNOTS, TIDE}),
    ("authors", ("@bo",), {KNOTS, TIDE}),
    ("authors", ("Lovelace",), set()),
    ("authors", ("doe, jane",), {NEAR}),
    ("authors", ("Smith,  J",), {NEAR}),
    ("authors", ("Smith, J, Doe, Jane", "Bo"), {NEAR, KNOTS, TIDE}),
    ("authors", ("Ada Lovelace, Bo",), {KNOTS}),
    ("authors", ("Una",), {CAFE}),
    ("authors", ("wei",), {CAFE}),
    ("authors", ("Roe, Una",), {CAFE}),
    ("authors", ("Li, Wei",), {CAFE}),
    ("authors", ("Li,Wei",), {CAFE}),
    ("authors", ("Una; Li",), set()),
    ("authors", ("Doe, J",), set()),
    ("authors", ("Smith, Jane",), set()),
    ("authors", (",",), set()),
    ("entities", (entity_key("moon-landing"),), {TIDE}),
    ("entities", (entity_key("AdaLovelace"), entity_key("Moon Landing")), {KNOTS, TIDE}),
    ("layers", ("caveat",), {KNOTS}),
    ("layers", ("caveat", "goal"), {KNOTS, TIDE}),
    ("altitudes", ("mission",), {KNOTS}),
    ("mem_types", ("decision",), {KNOTS}),
    ("mem_states", ("in_progress",), {TIDE}),
    ("mem_states", ("done", "open"), {KNOTS, DEEP}),
    ("threads", ("T-1",), {KNOTS}),
    ("threads", ("t-1",), set()),
    ("path_has", ("PAPERS/20",), {KNOTS, TIDE}),
    ("path_has", (unicodedata.normalize("NFD", "CAFÉ"),), {CAFE}),
    ("path_has", ("%_",), {SIGNS}),
    ("file_has", ("2024",), set()),
    ("file_has", ("kno", "100%"), {KNOTS, SIGNS}),
    ("file_has", (unicodedata.normalize("NFD", "café"),), {CAFE}),
    ("properties", (("status", "Done"),), {KNOTS, DEEP}),
    ("properties", (("STATUS", "in  progress"),), {TIDE}),
    ("properties", (("status", "done"), ("status", "open")), {KNOTS, TIDE, DEEP}),
    ("properties", (("status", "done"), ("type", "project")), {DEEP}),
    ("properties", (("status", None),), {KNOTS, TIDE, CAFE, DEEP}),
    ("properties", (("due_date", "2025-01-31"),), {SIGNS}),
    ("properties", (("project", "ada"),), {KNOTS}),
    ("properties", (("project", "Ada Lovelace"),), {KNOTS}),
    ("properties", (("nothing", None),), set()),
    ("phrases", ("kept accounts",), {KNOTS}),
    ("phrases", ("Cords  and Colours",), {KNOTS}),
    ("phrases", ("the", "moon"), {TIDE}),
    ("phrases", ("coffee",), {CAFE}),
    ("phrases", ("Café",), {CAFE}),
    ("phrases", ("qu",), {KNOTS}),
    ("since", "2024-02-03T00:00:00Z", {KNOTS, TIDE}),
    ("until", "2022-01-01T00:00:00Z", {SIGNS}),
    ("bands", ("hot",), LEFT),
]  # fmt: skip


@pytest.mark.parametrize(("field", "values", "paths"), CASES)
def test_a_filter_lets_in_what_it_names(
    index: VaultIndex, field: str, values: tuple[str, ...], paths: set[str]
) -> None:
    assert let_in(index, filtered(**{field: values})) == paths


# What is true of all of several values cannot be turned round value by value.
TOGETHER = {("the", "moon"), (("status", "done"), ("type", "project"))}


@pytest.mark.parametrize(
    ("field", "values", "paths"),
    [case for case in CASES if case[0] not in ("since", "until", "bands")],
)
def test_a_negative_filter_leaves_out_exactly_that(
    index: VaultIndex, field: str, values: tuple[str, ...], paths: set[str]
) -> None:
    if values in TOGETHER:
        paths = set().union(*(let_in(index, filtered(**{field: (each,)})) for each in values))
    assert let_in(index, filtered(**{f"not_{field}": values})) == LEFT - paths


def test_rows_that_were_chosen_elsewhere_narrow_the_rest(index: VaultIndex) -> None:
    rows = {record.vault_path: record.row for record in index.page(Filters(), limit=None)}
    assert let_in(index, Filters(rows=(rows[TIDE], rows[CAFE]))) == {TIDE, CAFE}
    assert let_in(index, Filters(rows=(rows[TIDE], rows[CAFE]), tags=("sea",))) == {TIDE}
    assert let_in(index, Filters(rows=())) == set()


def test_all_filters_must_hold(index: VaultIndex) -> None:
    both = Filters(tags=("sea",), not_tags=("physics",), not_folders=("archive",))
    assert let_in(index, both) == {TIDE}
    assert let_in(index, replace(both, since="2025-02-01T00:00:00Z")) == set()
    assert let_in(index, Filters(tags=("sea",), include_archived=True)) == {
        KNOTS, TIDE, "Kept away.md",
    }  # fmt: skip


def test_filters_met_at_random_agree_with_each_of_them_alone(index: VaultIndex) -> None:
    """Any number of filters lets in what every one of them lets in."""
    rng = random.Random(11)
    names = [case for case in CASES if case[0] not in ("since", "until", "bands")]
    for _ in range(60):
        chosen = rng.sample(names, k=rng.randint(2, 4))
        filters, expected = Filters(), set(LEFT)
        for field, values, _ in chosen:
            name = rng.choice([field, f"not_{field}"])
            alone = filtered(**{name: values})
            if not getattr(filters, name):
                picked: dict[str, Any] = {name: values}
                filters = replace(filters, **picked)
                expected &= let_in(index, alone)
        assert let_in(index, filters) == expected


def test_values_are_never_sql(index: VaultIndex) -> None:
    hostile = "'); DROP TABLE facets; --"
    for field in ("tags", "folders", "authors", "path_has", "phrases", "threads", "sources"):
        assert let_in(index, filtered(**{field: (hostile,)})) == set()
    assert let_in(index, Filters(tags=("sea",))) == {KNOTS, TIDE}


def test_a_hundred_values_of_every_filter_are_one_statement(index: VaultIndex) -> None:
    many = tuple(f"none {n}" for n in range(100))
    fields = [name for name in Filters.__slots__ if isinstance(getattr(Filters(), name), tuple)]
    values = {
        name: tuple((key, None) for key in many) if name.endswith("properties") else many
        for name in fields
        if not name.endswith("phrases")
    }
    assert let_in(index, filtered(**values)) == set()
    assert let_in(index, Filters(phrases=many)) == set()


@pytest.mark.parametrize(("field", "values", "paths"), CASES)
def test_facets_are_looked_up_never_read_through(
    index: VaultIndex, field: str, values: tuple[str, ...], paths: set[str]
) -> None:
    condition, bound = conditions.where(filtered(**{field: values}))
    plan = index.database.read().execute(
        f"EXPLAIN QUERY PLAN SELECT c.row FROM captures c WHERE {condition}", bound
    )
    steps = [step for *_, step in plan if "facets" in step]
    whole = field in ("path_has", "file_has") or values == ("",)
    # Only a name with a comma is looked for in all the lists of authors.
    listed = field == "authors" and any("," in value for value in values)
    wanted = "kind=?" if whole or listed else "kind=? AND value"
    assert all("SEARCH facets USING" in step and wanted in step for step in steps)


def test_a_changed_note_is_found_by_what_it_says_now(index: VaultIndex) -> None:
    settings = index.settings
    write_note(settings.vault, "moving.md", note("a", tags="[one, two]", mood="good"))
    reindex(settings, FakeEmbedder())
    assert let_in(index, Filters(properties=(("mood", "good"),))) == {"moving.md"}
    write_note(settings.vault, "moving.md", note("a", tags="[two]", mood="bad"))
    reindex(settings, FakeEmbedder())
    assert let_in(index, Filters(tags=("one",))) == set()
    assert let_in(index, Filters(tags=("two",))) == {"moving.md"}
    assert let_in(index, Filters(properties=(("mood", "good"),))) == set()
    (settings.vault / "moving.md").rename(settings.vault / "archive" / "moved.md")
    reindex(settings, FakeEmbedder(), accept_deletions=True)
    assert "archive/moved.md" in let_in(index, Filters(folders=("archive",)))
    assert let_in(index, Filters(path_has=("moving",))) == set()
    (settings.vault / "archive" / "moved.md").unlink()
    reindex(settings, FakeEmbedder(), accept_deletions=True)
    rows = index.database.read().execute("SELECT COUNT(*) FROM facets WHERE value = 'two'")
    assert rows.fetchone() == (0,)


def test_a_note_is_known_by_every_name_it_has(index: VaultIndex) -> None:
    facets = index.database.read().execute(
        "SELECT f.kind, f.value FROM facets f JOIN captures c USING (row) WHERE c.path = ?", (DEEP,)
    )
    known = set(facets)
    assert {("name", entity_key("Moon Landing")), ("name", entity_key("apollo-11"))} <= known
    assert ("kind", "project") in known


def test_listing_needs_no_more_than_a_statement(index: VaultIndex) -> None:
    page = queries.page(index.database.read(), Filters(tags=("sea",)), 1, 1)
    assert [record.vault_path for record in page] == [KNOTS]
