"""What clients really send as arguments, and the request that it means."""

from __future__ import annotations

from typing import Any

import pytest

from khiip_indexer.errors import UsageError
from khiip_sidecar.mcp_server.arguments import read_arguments
from khiip_sidecar.mcp_server.schemas import CAPTURE, RECALL


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"limit": 5}, {"limit": ["5"]}),
        ({"limit": "5"}, {"limit": ["5"]}),
        ({"limit": 5.0}, {"limit": ["5"]}),
        ({"limit": " 5.0 "}, {"limit": ["5"]}),
        ({"min_score": 0.25}, {"min_score": ["0.25"]}),
        ({"explain": True}, {"explain": ["true"]}),
        ({"explain": "True"}, {"explain": ["True"]}),
        ({"tag": "a"}, {"tag": ["a"]}),
        ({"tag": ["a", "b"]}, {"tag": ["a", "b"]}),
        ({"tag": '["a", "b"]'}, {"tag": ["a", "b"]}),
        ({"entity_name": "[[2024]]"}, {"entity_name": ["[[2024]]"]}),
        ({"tags": ["a"]}, {"tag": ["a"]}),
        ({"-tag": "a"}, {"-tag": ["a"]}),
        ({"entityName": "Ada"}, {"entity_name": ["Ada"]}),
        ({"max-tokens": 9}, {"max_tokens": ["9"]}),
        ({"top_k": 3}, {"limit": ["3"]}),
        ({"since": None, "until": "null", "limit": ""}, {}),
        ({"since": 2025}, {"since": ["2025"]}),
        ({"query": '["a"]'}, {"query": ['["a"]']}),
        ({"query": "null"}, {"query": ["null"]}),
        (None, {}),
    ],
)
def test_every_way_of_saying_it_means_the_same(sent: Any, meant: dict[str, list[str]]) -> None:
    asked = read_arguments(RECALL, sent)
    assert asked.params == meant
    assert asked.notes == ()


def test_an_unknown_argument_is_left_out_and_told_with_what_is_near() -> None:
    asked = read_arguments(RECALL, {"query": "a", "lmit": 3})
    assert asked.params == {"query": ["a"]}
    assert asked.notes == ("There is no argument `lmit`, it was left out; did you mean `limit`?",)


def test_what_has_nothing_near_is_told_with_what_is_known() -> None:
    [note] = read_arguments(CAPTURE, {"zzzzzz": 1}).notes
    assert note == "There is no argument `zzzzzz`, it was left out. Known: id, limit, offset."


def test_many_unknown_arguments_are_told_in_few_words() -> None:
    notes = read_arguments(RECALL, {f"zz{number}": 1 for number in range(1000)}).notes
    assert len(notes) == 6
    assert notes[-1] == "995 more unknown arguments were left out."


@pytest.mark.parametrize("blank", ["", "   ", "\t\n", "\u3000"])
def test_an_empty_query_is_left_out_and_told(blank: str) -> None:
    asked = read_arguments(RECALL, {"query": blank})
    assert asked.params == {}
    assert asked.notes == ("`query` was empty and is left out.",)


def test_only_what_can_be_left_out_takes_a_minus() -> None:
    assert read_arguments(RECALL, {"-limit": 1}).params == {}


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": 1}], [["a"]]])
def test_an_object_is_no_value(value: Any) -> None:
    with pytest.raises(UsageError, match="`tag` must be a plain value"):
        read_arguments(RECALL, {"tag": value})


def test_a_number_that_the_face_itself_needs_is_checked_as_by_the_service() -> None:
    with pytest.raises(UsageError, match="`limit` must be a whole number from 1 to 40000"):
        read_arguments(CAPTURE, {"limit": 0}).whole("limit")
    assert read_arguments(CAPTURE, {}).whole("limit") == 6000
