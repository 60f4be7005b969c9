"""Recall by meaning, by words and by both, by relevance and by what matters now."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from houses import House, note, open_house
from khiip_indexer.errors import StorageError, UsageError
from khiip_indexer.finder import Finder
from khiip_sidecar.memory import constants as c
from khiip_sidecar.ranking import candidates

WORDS = [
    *("knot", "cord", "tide", "moon", "loom", "sail"),
    *("rope", "harbour", "lamp", "map", "bread", "salt"),
]

FILLERS = [f"filler{n}" for n in range(60)]


def many_notes() -> dict[str, str]:
    """240 short notes of a few words each, some alike, some pinned or of a layer."""
    notes = {}
    for number in range(240):
        text = " ".join(WORDS[(number * step + step) % len(WORDS)] for step in (1, 3, 5, 7))
        fields: dict[str, object] = {"created": f"2026-0{1 + number % 6}-1{number % 9}"}
        if number % 7 == 0:
            fields |= {"importance": 0.9, "layer": "caveat", "entity": "Ropework"}
        notes[f"n{number}.md"] = note(f"{text} n{number}", **fields)
    return notes


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("crowd") / "vault", many_notes()) as house:
        yield house


def recall(house: House, **params: str) -> dict[str, Any]:
    asked = {"view": "lean", "mark_accessed": "false"} | params
    answer: dict[str, Any] = house.operations.recall({k: [v] for k, v in asked.items()})
    return answer


def ids(answer: dict[str, Any]) -> list[str]:
    return [row["id"] for row in answer["results"]]


KINDS = [
    {"match": match, "rank": rank}
    for match in ("semantic", "lexical", "hybrid")
    for rank in ("relevance", "composite")
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind.values()))
def test_pages_partition_the_whole_list(crowd: House, kind: dict[str, str]) -> None:
    whole = recall(crowd, q="knot and cord", limit="200", **kind)
    rest = recall(crowd, q="knot and cord", limit="200", offset="200", **kind)
    every = ids(whole) + ids(rest)
    assert len(set(every)) == len(every) > candidates.POOL
    assert not rest["has_more"]
    if kind["match"] != "lexical":
        assert len(every) == 240
    paged = []
    for offset in range(0, len(every) + 37, 37):
        page = recall(crowd, q="knot and cord", limit="37", offset=str(offset), **kind)
        assert page["has_more"] == (offset + 37 < len(every))
        paged += ids(page)
    assert paged == every


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(kind.values()))
def test_an_offset_past_the_end_is_an_empty_page(crowd: House, kind: dict[str, str]) -> None:
    answer = recall(crowd, q="knot", offset="1000", **kind)
    assert (answer["results"], answer["has_more"], answer["stopped_by"]) == ([], False, "end")


@pytest.mark.parametrize("match", ["semantic", "lexical", "hybrid"])
def test_by_relevance_the_score_falls(crowd: House, match: str) -> None:
    scores = [
        row["score"] for row in recall(crowd, q="tide moon", limit="60", match=match)["results"]
    ]
    assert scores == sorted(scores, reverse=True)
    assert all(-1 <= score <= 1 for score in scores)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """400 notes of one to forty words: what is near in meaning often holds few of the words."""
    rng = random.Random(3)
    notes = {
        f"n{n}.md": note(" ".join(rng.choices([*WORDS, *FILLERS], k=rng.randint(1, 40))))
        for n in range(400)
    }
    with open_house(tmp_path_factory.mktemp("mixed") / "vault", notes) as house:
        yield house


@pytest.mark.parametrize("match", ["lexical", "hybrid"])
@pytest.mark.parametrize("query", ["knot cord tide", "salt bread lamp", "moon"])
def test_the_score_falls_from_one_pool_to_the_next(mixed: House, match: str, query: str) -> None:
    scores = []
    for offset in range(0, 400, 50):
        answer = recall(mixed, q=query, match=match, limit="50", offset=str(offset))
        scores += [row["score"] for row in answer["results"]]
    assert len(scores) > candidates.POOL
    assert scores == sorted(scores, reverse=True)


def test_no_pool_is_gathered_for_what_cannot_reach_the_floor(
    mixed: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    meanings = Finder.meanings

    def counted(self: Finder, vector: Any, filters: Any, pool: int, also: Any = ()) -> Any:
        sizes.append(pool)
        return meanings(self, vector, filters, pool, also)

    best = recall(mixed, q="knot cord", match="hybrid", limit="1")["results"][0]["score"]
    monkeypatch.setattr(Finder, "meanings", counted)
    answer = recall(mixed, q="knot cord", match="hybrid", min_score=str(best), limit="200")
    assert answer["stopped_by"] == "end"
    assert answer["results"]
    assert sizes == [candidates.POOL]


@pytest.mark.parametrize("match", ["semantic", "lexical", "hybrid"])
def test_a_score_at_the_floor_is_kept_and_one_above_it_is_not(crowd: House, match: str) -> None:
    rows = recall(crowd, q="tide moon", limit="50", match=match)["results"]
    floor = rows[20]["score"]
    kept = recall(crowd, q="tide moon", limit="200", match=match, min_score=str(floor))["results"]
    assert min(row["score"] for row in kept) == floor
    above = recall(crowd, q="tide moon", limit="200", match=match, min_score=str(floor + 2e-6))
    assert floor not in [row["score"] for row in above["results"]]


@pytest.mark.parametrize("match", ["semantic", "lexical", "hybrid"])
def test_the_parts_of_a_composite_add_up_and_put_hits_in_order(crowd: House, match: str) -> None:
    rows = recall(crowd, q="sail rope", limit="60", match=match, rank="composite")["results"]
    strong = [row for row in rows if not row.get("weak")]
    assert [row["composite"] for row in strong] == sorted(
        (row["composite"] for row in strong), reverse=True
    )
    for row in rows:
        parts = row["score_breakdown"]
        total = (
            c.RELEVANCE_WEIGHT * parts["relevance"]
            + c.HEAT_WEIGHT * parts["heat"]
            + c.MOMENTUM_WEIGHT * parts["momentum"]
            + c.IMPORTANCE_WEIGHT * parts["importance"]
        )
        assert row["composite"] == pytest.approx(total, abs=1e-3)
        assert parts["relevance"] == pytest.approx(max(0, row["score"]), abs=1e-4)


def test_equal_composites_are_in_the_order_of_their_ids(crowd: House) -> None:
    rows = recall(crowd, since="2020", limit="200")["results"]
    assert {row["score_breakdown"]["relevance"] for row in rows} == {0.5}
    assert {row["score"] for row in rows} == {0.5}
    keys = [(-row["composite"], row["id"]) for row in rows]
    assert keys == sorted(keys)
    assert len({composite for composite, _ in keys}) < len(keys)


def test_filters_without_a_query_page_like_any_other_search(crowd: House) -> None:
    whole = ids(recall(crowd, since="2020", limit="200"))
    pages = [ids(recall(crowd, since="2020", limit="80", offset=str(at))) for at in (0, 80, 160)]
    assert (pages[0] + pages[1] + pages[2])[:200] == whole
    assert recall(crowd, since="2020", min_score="0.5")["results"]
    assert recall(crowd, since="2020", min_score="0.51")["results"] == []


def test_every_hit_of_a_filter_by_heat_is_that_warm(crowd: House) -> None:
    warm = recall(crowd, q="rope", band="warm", explain="true", limit="200")["results"]
    assert warm
    assert all(0.4 <= row["score_breakdown"]["heat"] < 0.7 for row in warm)
    others = recall(crowd, q="rope", band="-warm", limit="200")
    assert len(warm) + others["total_candidates"] == 240
    listed = crowd.operations.captures({"band": ["warm"], "view": ["lean"], "limit": ["1000"]})
    assert {row["id"] for row in listed} == set(ids({"results": warm}))


def test_reasons_of_memory_are_told(crowd: House) -> None:
    rows = recall(crowd, q="n7", match="lexical", explain="true")["results"]
    caveat = next(row for row in rows if row["vault_path"] == "n7.md")
    assert {"pinned", "high_importance"} <= set(caveat["match_reasons"])
    named = recall(crowd, q="ropework", match="hybrid", explain="true", limit="5")["results"]
    assert "entity_name_match" in named[0]["match_reasons"]


def test_a_budget_is_passed_by_the_first_hit_only(crowd: House) -> None:
    for budget in (1, 200, 700):
        answer = recall(crowd, q="knot", match="hybrid", max_tokens=str(budget), limit="50")
        assert answer["results"]
        assert answer["approx_tokens"] <= budget or len(answer["results"]) == 1
        assert answer["stopped_by"] == "tokens"


QUERIES = st.text(max_size=40) | st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(query=QUERIES, kind=st.sampled_from(KINDS), passages=st.booleans())
def test_no_query_is_ever_a_fault(
    crowd: House, query: str, kind: dict[str, str], passages: bool
) -> None:
    try:
        answer = recall(crowd, q=query, limit="5", passages=str(passages).lower(), **kind)
    except UsageError as error:
        assert error.code in {"empty_query", "too_long"}
        return
    if "results" in answer:
        for row in answer["results"]:
            if (passage := row.get("passage")) is not None:
                assert all(0 <= a < b <= len(passage["text"]) for a, b in passage["ranges"])


@pytest.mark.parametrize("match", ["hybrid", "lexical"])
def test_words_that_cannot_be_searched_are_said(
    crowd: House, match: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise StorageError("no such table: words")

    monkeypatch.setattr(Finder, "words", broken)
    if match == "lexical":
        with pytest.raises(StorageError):
            recall(crowd, q="knot", match=match)
        return
    with caplog.at_level(logging.WARNING):
        answer = recall(crowd, q="knot", match=match)
    assert (bool(answer["results"]), answer["degraded"]) == (True, "text_search_failed")
    assert "no such table" in caplog.text


def test_an_expression_of_fts5_is_for_those_who_mean_it(crowd: House) -> None:
    both = recall(crowd, q="cord AND moon", match="lexical", match_syntax="fts5", limit="200")
    assert both["results"]
    assert all("cord" in row["excerpt"] and "moon" in row["excerpt"] for row in both["results"])
    free = recall(crowd, q="cord AND moon", match="lexical", limit="200")
    assert len(free["results"]) > len(both["results"])


def test_reading_warms_what_was_read(tmp_path: Path) -> None:
    notes = {
        "old.md": note("knots on cords", created="2024-01-01"),
        "new.md": note("knots on cords too", created="2024-01-02"),
    }
    with open_house(tmp_path / "vault", notes) as house:
        asked = {"q": "cords", "rank": "composite", "match": "lexical"}
        cold = recall(house, **asked)
        assert all(row["score_breakdown"]["heat"] < 0.2 for row in cold["results"])
        assert house.index.accesses() == {}
        recall(house, **asked, mark_accessed="true", limit="1")
        (read,) = house.index.accesses()
        warm = recall(house, **asked)["results"]
        assert {row["id"]: row["score_breakdown"]["heat"] for row in warm}[read] == 1.0


def test_only_hits_that_were_sent_count_as_read(tmp_path: Path) -> None:
    notes = {f"{n}.md": note(f"knots on cords {n} " + "long " * 90) for n in range(5)}
    with open_house(tmp_path / "vault", notes) as house:
        answer = recall(house, q="cords", max_tokens="1", mark_accessed="true")
        assert list(house.index.accesses()) == ids(answer)


def test_accesses_that_cannot_be_written_cost_no_answer(
    crowd: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: object, *, soon: bool) -> None:
        raise StorageError("the disk is full")

    monkeypatch.setattr(crowd.index, "record_access", full)
    with caplog.at_level(logging.WARNING):
        assert recall(crowd, q="knot", mark_accessed="true")["results"]
    assert "the disk is full" in caplog.text


def test_however_warm_what_does_not_fit_comes_last(tmp_path: Path) -> None:
    notes = {
        "answer.md": note("kubernetes ingress timeout", created="2019-01-01"),
        **{f"cook{n}.md": note(f"bread and salt {n}", created="2019-01-01") for n in range(20)},
    }
    with open_house(tmp_path / "vault", notes, weak_below=0.3) as house:
        for _ in range(3):
            house.index.record_access([house.id_of("cook1.md")])
        for match in ("semantic", "hybrid"):
            rows = recall(house, q="ingress timeout", match=match, rank="composite")["results"]
            assert rows[0]["vault_path"] == "answer.md"
            assert all(row["weak"] for row in rows[1:])


def test_a_note_that_goes_while_its_passage_is_looked_up_costs_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = {"a.md": note("knots and cords"), "b.md": note("knots and sails")}
    with open_house(tmp_path / "vault", notes) as house:
        look_up = Finder.passages

        def and_remove(self: Finder, *args: Any) -> Any:
            house.remove("a.md")
            return look_up(self, *args)

        monkeypatch.setattr(Finder, "passages", and_remove)
        found = recall(house, query="knots", match="lexical", passages="true")
        assert sorted(row["passage"]["text"] for row in found["results"]) == [
            "knots and cords",
            "knots and sails",
        ]


def test_a_history_links_no_note_that_is_gone(tmp_path: Path) -> None:
    notes = {
        "rope.md": note("knots"),
        "about.md": note("cords [[rope]]"),
        "more.md": note("sails [[rope]]"),
    }
    with open_house(tmp_path / "vault", notes) as house:
        house.remove("about.md")
        linked = recall(house, path="rope")["linked_memories"]
        assert [each["title"] for each in linked] == ["rope", "more"]
        house.remove("rope.md")
        linked = recall(house, path="rope")["linked_memories"]
        assert [each["title"] for each in linked] == ["more"]


def test_a_history_links_what_is_archived_only_when_it_is_asked_for(tmp_path: Path) -> None:
    notes = {
        "rope.md": note("knots", archived="true"),
        "about.md": note("cords [[rope]]"),
        "past.md": note("sails [[rope]]", archived="true"),
    }
    with open_house(tmp_path / "vault", notes) as house:
        linked = recall(house, path="rope")["linked_memories"]
        assert [each["title"] for each in linked] == ["about"]
        linked = recall(house, path="rope", include_archived="true")["linked_memories"]
        assert {each["title"] for each in linked} == {"rope", "about", "past"}


def test_a_history_beside_filters_has_what_they_let_in_too(tmp_path: Path) -> None:
    notes = {"rope.md": note("knots"), "cord.md": note("cords", tags="[sea]")}
    with open_house(tmp_path / "vault", notes) as house:
        for asked in ({"query": "tag:#sea"}, {"tag": "sea"}):
            related = recall(house, path="rope", **asked)["related_memories"]
            assert [each["vault_path"] for each in related] == ["cord.md"]
        assert "related_memories" not in recall(house, path="rope", include_archived="true")


@pytest.mark.parametrize("only", [{"kind": "person"}, {"min_memories": "2"}])
@pytest.mark.parametrize("beside", [{"query": "knots"}, {"path": "rope"}])
def test_what_only_an_overview_knows_is_refused_beside_a_search_and_a_history(
    tmp_path: Path, only: dict[str, str], beside: dict[str, str]
) -> None:
    with open_house(tmp_path / "vault", {"rope.md": note("knots", tags="[sea]")}) as house:
        with pytest.raises(UsageError, match="belongs to the overview") as caught:
            recall(house, **only, **beside)
        [name], [said] = only, beside
        assert f"`{name}`" in caught.value.sentence
        assert f"beside a {said}" in caught.value.sentence
        assert recall(house, min_memories="1", **beside)
        assert "entities" in recall(house, tag="sea", **only)
        assert "entities" in recall(house, query="tag:sea", **only)
