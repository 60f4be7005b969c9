"""The tools over a real index, and what they were agreed to say.

After a change that is meant: KHIIP_WRITE_GOLDEN=1 pytest tests/mcp_server/test_tools.py, then
look at the difference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from houses import NOW, House, open_house
from khiip_indexer.errors import KhiipError
from khiip_sidecar.mcp_server.budget import tokens_of
from khiip_sidecar.mcp_server.tools import TOOLS
from khiip_sidecar.wire.encode import error_body, to_json
from sidecar.test_golden import NOTES

GOLDEN = Path(__file__).parents[2] / "fixtures" / "api"
WRITING = os.environ.get("KHIIP_WRITE_GOLDEN") == "1"
BY_NAME = {each.name: each for each in TOOLS}
Json = dict[str, Any]

CALLS: dict[str, tuple[str, Callable[[House], Json]]] = {
    "mcp_recall": ("recall", lambda _: {"query": "knots on cords", "limit": 3}),
    "mcp_recall_layers": ("recall", lambda _: {"mem_type": "learning", "explain": True}),
    "mcp_history": ("recall", lambda _: {"path": "Khipu", "query": "cords", "limit": 1}),
    "mcp_overview": ("recall", lambda _: {"limit": 2}),
    "mcp_list": ("list_captures", lambda _: {"limit": "2", "colour": "red"}),
    "mcp_capture": ("get_capture", lambda house: {"id": house.id_of("日記/雨.md"), "limit": 9}),
}
FAULTS: dict[str, tuple[str, Json]] = {
    "no_id": ("get_capture", {}),
    "not_found": ("get_capture", {"id": "nobody"}),
    "bad_value": ("recall", {"query": "a", "limit": 0}),
    "bad_budget": ("recall", {"query": "a", "max_tokens": "lots"}),
    "not_in_list": ("list_captures", {"source": "redit"}),
    "outside_vault": ("recall", {"query": "a", "folder": "..\\x"}),
    "outside_by_history": ("recall", {"path": "%2e%2e/secret.md"}),
    "reserved_folder": ("list_captures", {"folder": ".git/hooks"}),
    "an_object": ("recall", {"query": {"text": "a"}}),
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    root = tmp_path_factory.mktemp("golden-mcp") / "Sample"
    with open_house(root, NOTES, indexed=False) as opened:
        for path in NOTES:
            os.utime(root / path, (NOW.timestamp(), NOW.timestamp()))
        opened.sync()
        yield opened


def call(house: House, tool: str, arguments: Json) -> Json:
    unread = {"mark_accessed": False} if tool == "recall" else {}
    return BY_NAME[tool].call(house.operations, {**arguments, **unread})


def agreed(name: str, answer: Json) -> Json:
    file = GOLDEN / f"{name}.json"
    if WRITING:
        file.write_text(json.dumps(answer, ensure_ascii=False, indent=1) + "\n", "utf-8")
    found: Json = json.loads(file.read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_is_what_was_agreed_on_and_keeps_to_its_schema(house: House, name: str) -> None:
    tool, arguments = CALLS[name]
    answer = call(house, tool, arguments(house))
    assert answer == agreed(name, answer)
    jsonschema_rs.validator_for(BY_NAME[tool].output).validate(answer)


def test_errors_are_what_was_agreed_on(house: House) -> None:
    said = {}
    for name, (tool, arguments) in FAULTS.items():
        with pytest.raises(KhiipError) as caught:
            call(house, tool, arguments)
        said[name] = error_body(caught.value)
    assert said == agreed("mcp_errors", said)


def test_the_tools_are_what_was_agreed_on() -> None:
    tools = [
        {"name": each.name, "description": each.description, "inputSchema": each.input}
        for each in TOOLS
    ]
    assert tools == agreed("mcp_tools", {"tools": tools})["tools"]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.name)
def test_descriptions_are_short_and_arguments_have_one_simple_type(tool: Any) -> None:
    assert len(tool.description) < 1000
    for name, schema in tool.input["properties"].items():
        assert schema["type"] in ("string", "integer", "number", "boolean"), name
        assert not {"anyOf", "oneOf", "$ref", "items"} & schema.keys(), name
        assert schema["description"]
    assert tool.output["type"] == "object"
    assert "$ref" not in json.dumps(tool.output)


def test_rows_are_those_of_the_service(house: House) -> None:
    answer = call(house, "recall", {"query": "knots", "max_tokens": 9000})
    same = {"query": ["knots"], "view": ["lean"], "match": ["hybrid"], "rank": ["composite"]}
    rest = house.operations.recall({**same, "mark_accessed": ["false"]})
    assert answer["results"] == rest["results"]
    assert list(answer)[: len(rest)] == list(rest)


def test_recall_warms_what_it_returned_and_nothing_else_does(house: House) -> None:
    def heat() -> dict[str, float]:
        hits = call(house, "recall", {"query": "knot", "max_tokens": 9000})["results"]
        return {hit["id"]: hit["score_breakdown"]["heat"] for hit in hits}

    before = heat()
    call(house, "list_captures", {})
    for each in before:
        call(house, "get_capture", {"id": each})
    assert heat() == before
    [first] = BY_NAME["recall"].call(house.operations, {"query": "knot", "limit": 1})["results"]
    after = heat()
    assert after[first["id"]] > before[first["id"]]
    assert [each for each in before if after[each] != before[each]] == [first["id"]]


def test_only_recall_says_that_it_changes_something() -> None:
    hints = {each.name: (each.read_only, each.idempotent) for each in TOOLS}
    assert hints == {
        "recall": (False, False),
        "list_captures": (True, True),
        "get_capture": (True, True),
    }


def test_a_full_view_is_not_given_and_that_is_told(house: House) -> None:
    answer = call(house, "recall", {"query": "knots", "view": "full", "limit": 1})
    assert "payload" not in to_json(answer["results"]).decode().replace("payload_chars", "")
    assert answer["notes"] == ["Rows are always lean here; get_capture reads the whole of one."]


def test_an_address_is_as_good_as_an_id(house: House) -> None:
    known = house.id_of("日記/雨.md")
    answer = call(house, "get_capture", {"uri": f"khiip://capture/{known}"})
    assert answer["capture"]["vault_path"] == "日記/雨.md"


def test_the_former_text_of_a_changed_note_is_told(tmp_path: Path) -> None:
    with open_house(tmp_path / "v", {"a.md": "Knots."}) as house:
        house.write("a.md", "Other words altogether.")
        answer = call(house, "get_capture", {"id": "a.md"})
        assert answer["text"] == "Knots."
        assert answer["notes"] == [
            "The note has changed since it was indexed: this is its former text."
        ]
        [row] = call(house, "list_captures", {})["captures"]
        assert row["stale"] is True


@pytest.mark.parametrize("name", ["id", "path", "vault_path"])
def test_the_path_that_rows_show_is_as_good_as_an_id(house: House, name: str) -> None:
    row = call(house, "list_captures", {"folder": "日記"})["captures"][0]
    answer = call(house, "get_capture", {name: row["vault_path"]})
    assert answer["capture"]["id"] == row["id"]
    part = {name: row["vault_path"].rpartition("/")[2]}
    for wrong in (part, {name: "../x.md"}, {name: "-x.md"}):
        with pytest.raises(KhiipError) as caught:
            call(house, "get_capture", wrong)
        assert caught.value.code == "not_found"


@pytest.mark.parametrize("budget", [200, 500, 2000, 6000])
def test_no_result_passes_its_budget_and_each_says_how_to_go_on(crowd: House, budget: int) -> None:
    for tool, arguments in (
        ("recall", {"query": "user", "limit": 50}),
        ("recall", {"query": "user", "limit": 50, "passages": True, "explain": True}),
        ("recall", {"path": "Notes", "query": "user"}),
        ("list_captures", {"limit": 100}),
    ):
        answer = call(crowd, tool, {**arguments, "max_tokens": budget})
        rows = answer.get("results") or answer.get("captures") or ()
        assert tokens_of(answer) <= budget or len(rows) == 1
        assert "how_to_go_on" in answer or "paths_matched" in answer


def test_pages_by_offset_reach_every_note_once(crowd: House) -> None:
    seen, offset = [], 0
    while offset is not None:
        answer = call(crowd, "list_captures", {"limit": 100, "offset": offset})
        assert answer["total"] == 200
        assert answer["returned"] == len(answer["captures"])
        seen += [row["id"] for row in answer["captures"]]
        offset = answer["next_offset"]
    assert len(seen) == len(set(seen)) == 200


def test_recall_goes_on_where_it_stopped(crowd: House) -> None:
    asked = {"query": "user", "limit": 50, "rank": "relevance"}
    first = call(crowd, "recall", asked)
    assert (first["total_candidates"], first["stopped_by"]) == (200, "tokens")
    assert first["next_offset"] == first["returned"] == len(first["results"])
    second = call(crowd, "recall", {**asked, "offset": first["next_offset"]})
    assert not {hit["id"] for hit in first["results"]} & {hit["id"] for hit in second["results"]}


def test_a_note_of_three_megabytes_is_read_in_pages(crowd: House) -> None:
    big = crowd.id_of("Notes/Big.md")
    answer = call(crowd, "get_capture", {"id": big})
    assert answer["returned_chars"] == len(answer["text"]) == 6000
    assert answer["total_chars"] > 3_000_000
    assert answer["next_offset"] == 6000
    assert len(to_json(answer)) < 8000
    last = call(crowd, "get_capture", {"id": big, "offset": answer["total_chars"] - 10})
    assert (last["returned_chars"], last["has_more"]) == (10, False)


def test_a_page_behind_the_end_says_how_many_there_are(crowd: House) -> None:
    answer = call(crowd, "list_captures", {"offset": 500})
    assert (answer["captures"], answer["total"], answer["has_more"]) == ([], 200, False)
