"""What the index knows of entities: the notes about them, their kinds, spellings, backlinks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from houses import House, note, open_house
from khiip_indexer.records import Filters
from khiip_indexer.storage.entities import EntityFacts, EntityReader

ALL = Filters()
MakeHouse = Callable[[dict[str, str]], House]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeHouse]:
    with ExitStack() as stack:
        yield lambda notes: stack.enter_context(open_house(tmp_path / "vault", notes))


def reader(house: House) -> EntityReader:
    return EntityReader(house.index.database.read())


def about(facts: EntityFacts) -> dict[str, list[str]]:
    """The paths of the notes about each entity."""
    found: dict[str, list[str]] = {}
    for entity, place in zip(facts.entity.tolist(), facts.note.tolist(), strict=True):
        found.setdefault(facts.keys[entity], []).append(facts.paths[place])
    return {key: sorted(paths) for key, paths in found.items()}


def rows_of(house: House, *paths: str) -> list[int]:
    records = [house.index.capture_at(path) for path in paths]
    return [record.row for record in records if record is not None]


def test_notes_are_gathered_by_entity_whatever_the_spelling(make: MakeHouse) -> None:
    house = make(
        {
            "1.md": "Met [[Ada Lovelace]] and [[People/ada-lovelace]].",
            "2.md": note("Letters.", entities="[AdaLovelace, Babbage]"),
            "3.md": "Nobody.",
        }
    )
    facts = reader(house).facts(ALL)
    assert about(facts) == {"adalovelace": ["1.md", "2.md"], "babbage": ["2.md"]}
    assert facts.keys == ("adalovelace", "babbage")


def test_facts_of_a_note_are_its_own(make: MakeHouse) -> None:
    house = make(
        {
            "a.md": note("[[X]]", created="2026-01-03", layer="warning", importance=0.9),
            "b.md": note("[[X]]", created="2026-02-03", pinned="true", updated="2026-03-03"),
        }
    )
    facts = reader(house).facts(ALL)
    places = [facts.paths.index(path) for path in ("a.md", "b.md")]
    assert facts.rows[places].tolist() == rows_of(house, "a.md", "b.md")
    assert [facts.ids[each] for each in places] == [house.id_of("a.md"), house.id_of("b.md")]
    assert [facts.layers[each] for each in places] == ["caveat", None]
    assert facts.importance[places[0]] == 0.9
    assert np.isnan(facts.importance[places[1]])
    assert facts.pinned[places].tolist() == [False, True]
    assert facts.recorded[places].tolist() == [1_767_398_400, 1_770_076_800]
    # An edit that the note tells of; of the other one only the file's time is known.
    assert facts.edited[places].tolist() == [0, 1_772_496_000]
    rows = facts.rows[places].tolist()
    assert reader(house).edited(rows) == {rows[0]: 0, rows[1]: 1_772_496_000}


def test_archived_and_replaced_notes_count_only_when_asked_for(make: MakeHouse) -> None:
    house = make(
        {
            "old.md": note("[[X]]", superseded_by='"[[new]]"'),
            "new.md": "[[X]]",
            "gone.md": note("[[X]]", archived="true"),
        }
    )
    assert about(reader(house).facts(ALL))["x"] == ["new.md"]
    everything = Filters(include_archived=True, heads_only=False)
    assert about(reader(house).facts(everything))["x"] == ["gone.md", "new.md", "old.md"]


def test_filters_choose_the_notes(make: MakeHouse) -> None:
    house = make({"in/1.md": "[[X]] [[Y]]", "out/2.md": "[[X]] [[Z]]"})
    assert about(reader(house).facts(Filters(folders=("in",)))) == {
        "x": ["in/1.md"],
        "y": ["in/1.md"],
    }


def test_an_empty_index_has_no_entities(make: MakeHouse) -> None:
    facts = reader(make({})).facts(ALL)
    assert facts.keys == ()
    assert len(facts.rows) == len(facts.note) == len(facts.backlinks) == 0


def test_the_kind_comes_from_the_entitys_own_note(make: MakeHouse) -> None:
    house = make(
        {
            "1.md": "[[Ada]] [[Khiip]] [[Acme]] [[Loose]]",
            "People/Ada.md": note("", kind="person"),
            "k.md": note("", title="Khiip", type="project"),
            "c.md": note("", aliases="[ACME]", kind="company"),
            "Loose.md": note("", type="decision"),
        }
    )
    kinds = reader(house).kinds(ALL)
    assert {key: kinds.get(key) for key in ("ada", "khiip", "acme", "loose")} == {
        "ada": "person",
        "khiip": "project",
        "acme": "company",
        "loose": None,
    }


def test_a_note_of_that_name_tells_the_kind_before_one_that_has_it_as_an_alias(
    make: MakeHouse,
) -> None:
    house = make(
        {
            "a.md": note("", aliases="[Mercury]", kind="concept"),
            "z/Mercury.md": note("", kind="company"),
        }
    )
    assert reader(house).kinds(ALL)["mercury"] == "company"


@pytest.mark.parametrize(
    ("notes", "shown"),
    [
        ({"People/Ada-Lovelace.md": "# Ada Lovelace\n"}, "Ada Lovelace"),
        ({"Ada_Lovelace.md": note("", title="The Enchantress")}, "Ada_Lovelace"),
        # An alias is no spelling of the note's title: what is written most often is shown.
        ({"Ada King.md": note("", aliases="[Ada Lovelace]")}, "ada lovelace"),
        ({}, "ada lovelace"),
    ],
)
def test_how_an_entity_is_shown(make: MakeHouse, notes: dict[str, str], shown: str) -> None:
    mentions = {
        "1.md": "[[ada lovelace]]",
        "2.md": "[[x/ada lovelace.md]]",
        "3.md": "[[AdaLovelace]]",
    }
    house = make(notes | mentions)
    assert reader(house).spellings(["adalovelace"], ALL) == {"adalovelace": shown}


def test_of_two_spellings_as_common_the_same_one_is_shown_always(make: MakeHouse) -> None:
    house = make({"1.md": "[[ada-lovelace]]", "2.md": "[[Ada Lovelace]]"})
    assert reader(house).spellings(["adalovelace"], ALL) == {"adalovelace": "Ada Lovelace"}


def test_backlinks_are_other_current_notes_each_once(make: MakeHouse) -> None:
    house = make(
        {
            "Ada Lovelace.md": note("Herself: [[Ada Lovelace]].", aliases="[Countess]"),
            "1.md": "[[Ada Lovelace]] is the [[Countess]].",
            "2.md": "[[ada-lovelace]]",
            "3.md": "[[countess]]",
            "gone.md": note("[[Ada Lovelace]]", archived="true"),
            "Lonely.md": "Nobody writes about it, [[1]] does not either.",
        }
    )
    rows = rows_of(house, "Ada Lovelace.md", "1.md", "Lonely.md")
    assert reader(house).backlinks(rows) == {rows[0]: 3, rows[1]: 1}
    facts = reader(house).facts(ALL)
    counted = dict(zip(facts.rows.tolist(), facts.backlinks.tolist(), strict=True))
    assert [counted[row] for row in rows] == [3, 1, 0]


def test_backlinks_of_many_notes_are_those_of_each(make: MakeHouse) -> None:
    numbers = range(1, 40)
    house = make(
        {
            f"n{number}.md": " ".join(f"[[n{other}]]" for other in numbers if number % other == 0)
            for number in numbers
        }
    )
    facts = reader(house).facts(ALL)
    rows = facts.rows.tolist()
    found = reader(house).backlinks(rows)
    assert [found.get(row, 0) for row in rows] == facts.backlinks.tolist()
    divided = dict(zip(facts.paths, facts.backlinks.tolist(), strict=True))
    assert (divided["n1.md"], divided["n2.md"], divided["n13.md"], divided["n20.md"]) == (
        38,
        18,
        2,
        0,
    )
