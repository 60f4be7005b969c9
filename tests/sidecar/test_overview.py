"""The entity overview over real indexes: counts, order, pages, and the names of its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from houses import NOW, House, note, open_house
from khiip_indexer.errors import ModelError, UsageError
from khiip_indexer.fields.entity_names import entity_key
from khiip_indexer.records import Filters
from khiip_indexer.storage.entities import EntityReader
from khiip_sidecar.memory.activity import Activity
from khiip_sidecar.memory.lookup import Remembered, Sources
from khiip_sidecar.overview import OverviewRequest, overview
from khiip_sidecar.wire.overview_view import overview_view

DAY = 24 * 3600
FIELDS = [
    "name",
    "kind",
    "memory_count",
    "goal_count",
    "context_count",
    "emotion_count",
    "implementation_count",
    "caveat_count",
    "learning_count",
    "pinned_count",
    "momentum_score",
    "momentum_band",
    "last_access",
]


@dataclass
class Told:
    """A vault, what is known of its edits, and the overview of it."""

    house: House
    edits: dict[str, tuple[list[int], int, int]] = field(default_factory=dict)

    def activity(self, since: int) -> Activity:
        assert since == int(NOW.timestamp()) - 7 * DAY
        return self.edits

    def sources(self) -> Sources:
        index = self.house.index
        return Sources(
            reader=lambda: EntityReader(index.database.read()),
            generation=lambda: index.meta("generation"),
            history=lambda: self,
            now=NOW.timestamp,
        )

    def ask(self, **asked: Any) -> Mapping[str, Any]:
        sources, tallies = self.sources(), self.house.index.accesses
        found = overview(sources, Remembered(sources), tallies, OverviewRequest(**asked))
        return overview_view(found)

    def names(self, **asked: Any) -> list[str]:
        return [each["name"] for each in self.ask(**asked)["entities"]]


Tell = Callable[[dict[str, str]], Told]


@pytest.fixture
def tell(tmp_path: Path) -> Iterator[Tell]:
    with ExitStack() as stack:
        yield lambda notes: Told(stack.enter_context(open_house(tmp_path / "vault", notes)))


def old(body: str, **fields: object) -> str:
    return note(body, created="2020-01-01", **fields)


def test_an_entity_with_everything_that_is_counted(tell: Tell) -> None:
    told = tell(
        {
            "People/Ada Lovelace.md": old("Herself.", type="person"),
            "1.md": old("[[Ada Lovelace]]", layer="why"),
            "2.md": old("[[ada-lovelace]]", layer="goal", pinned="true"),
            "3.md": old("[[AdaLovelace]]", layer="pitfall", importance=0.95),
            "4.md": old("[[Ada Lovelace]]", layer="learned"),
            "5.md": old("[[Ada Lovelace]]", importance=0.89),
            "6.md": old("[[Ada Lovelace]]", archived="true", layer="mood"),
        }
    )
    (entity,) = told.ask()["entities"]
    assert entity == {
        "name": "Ada Lovelace",
        "kind": "person",
        "memory_count": 5,
        "goal_count": 2,
        "context_count": 0,
        "emotion_count": 0,
        "implementation_count": 0,
        "caveat_count": 1,
        "learning_count": 1,
        "pinned_count": 2,
        "momentum_score": 0.0,
        "momentum_band": "dormant",
        "last_access": None,
    }
    assert list(entity) == FIELDS


def test_momentum_comes_from_edits_and_their_dates(tell: Tell) -> None:
    told = tell({"1.md": old("[[Busy]]", importance=0.5), "2.md": old("[[Idle]]")})
    now = int(NOW.timestamp())
    told.edits["1.md"] = ([now - 60, now - 120, now - 180], 3, now - 180)
    busy, idle = told.ask()["entities"]
    # 0.4 * 5 + 0.3 * 10, and 3 edits against four events in six years: 0.3 * 10
    assert (busy["name"], busy["momentum_score"], busy["momentum_band"]) == ("Busy", 8.0, "surging")
    assert (idle["momentum_score"], idle["momentum_band"]) == (0.0, "dormant")


def test_the_order_is_momentum_then_memories_then_name(tell: Tell) -> None:
    told = tell(
        {
            "new.md": note("[[Zeta]]", created="2026-06-30"),
            "1.md": old("[[Many]] [[beta]] [[Alpha]]"),
            "2.md": old("[[Many]] [[Gamma]]"),
        }
    )
    assert told.names() == ["Zeta", "Many", "Alpha", "beta", "Gamma"]


def test_pages_tell_what_there_is_and_whether_there_is_more(tell: Tell) -> None:
    told = tell({"1.md": old("[[a]] [[b]] [[c]] [[d]] [[e]]"), "2.md": old("[[c]] [[e]]")})
    assert told.names(limit=2) == ["c", "e"]
    middle = told.ask(limit=2, offset=2)
    assert [each["name"] for each in middle["entities"]] == ["a", "b"]
    assert (middle["total"], middle["has_more"]) == (5, True)
    last = told.ask(limit=2, offset=4)
    assert (last["total"], last["has_more"]) == (5, False)
    assert told.ask(limit=2, offset=99) == {"entities": [], "total": 5, "has_more": False}
    few = told.ask(min_memories=2)
    assert ([each["name"] for each in few["entities"]], few["total"]) == (["c", "e"], 2)


def test_one_kind_alone_and_other_for_what_says_none(tell: Tell) -> None:
    told = tell(
        {
            "1.md": old("[[Ada]] [[Khiip]] [[Tea]]"),
            "Ada.md": old("", kind="person"),
            "Khiip.md": old("", type="project"),
            "Tea.md": old("Leaves."),
        }
    )
    assert told.names(kind="person") == ["Ada"]
    assert told.names(kind="project") == ["Khiip"]
    assert told.names(kind="other") == ["Tea"]
    assert told.ask(kind="company") == {"entities": [], "total": 0, "has_more": False}


def test_a_kind_that_is_none_is_refused_with_the_list(tell: Tell) -> None:
    with pytest.raises(UsageError, match="person, company, project, concept, file, other"):
        tell({}).ask(kind="planet")


def test_filters_choose_the_notes_and_momentum_stays_the_entitys(tell: Tell) -> None:
    told = tell(
        {
            "in/1.md": old("[[Ada]]"),
            "out/2.md": note("[[Ada]]", created="2026-06-30"),
            "out/3.md": old("[[Bob]]"),
        }
    )
    whole = told.ask()["entities"][0]
    (ada,) = told.ask(filters=Filters(folders=("in",)))["entities"]
    assert ada["memory_count"] == 1
    assert ada["momentum_score"] == whole["momentum_score"] > 0


def test_the_last_access_is_that_of_any_note_about_it(tell: Tell) -> None:
    told = tell({"1.md": old("[[Ada]]"), "2.md": old("[[Ada]] [[Bob]]"), "3.md": old("[[Cy]]")})
    accesses = told.house.index._accesses
    accesses.record([told.house.id_of("1.md")], at=1_767_398_400_000)
    accesses.record([told.house.id_of("2.md")], at=1_767_312_000_000)
    found = {each["name"]: each["last_access"] for each in told.ask()["entities"]}
    assert found == {"Ada": "2026-01-03T00:00:00Z", "Bob": "2026-01-02T00:00:00Z", "Cy": None}


def test_an_empty_vault_has_no_entities(tell: Tell) -> None:
    assert tell({}).ask() == {"entities": [], "total": 0, "has_more": False}


def test_a_shown_name_finds_its_notes_again(tell: Tell) -> None:
    told = tell(
        {
            "1.md": old("[[Dr. Ada]]"),
            "2.md": old("[[Ada Lovelace]]"),
            "3.md": old("[[Countess]]"),
            "ada_lovelace.md": old("", title="Countess of Lovelace", aliases="[Countess]"),
        }
    )
    names = told.names()
    assert sorted(names) == ["Countess", "Dr. Ada", "ada_lovelace"]
    for name in names:
        assert told.names(filters=Filters(entities=(entity_key(name),))) == [name]


def test_notes_are_known_before_their_vectors_are(tell: Tell) -> None:
    told = tell({"1.md": old("[[Ada]]")})
    remembered = Remembered(told.sources())
    assert remembered.facts(Filters()).keys == ("ada",)
    before = told.house.index.meta("generation")
    told.house.write("2.md", old("[[Bob]]"))
    told.house.embedder.missing = True
    with pytest.raises(ModelError):
        told.house.sync()
    assert told.house.index.meta("generation") == before
    assert remembered.facts(Filters()).keys == ("ada", "bob")
