"""Values of our own fields that cannot be used are said with what may stand there."""

from __future__ import annotations

import pytest

from khiip_indexer.fields.ids import derived_id
from khiip_indexer.types import Problem

from .reading import read


def bad(lines: str, code: str = "bad_value") -> list[Problem]:
    return [each for each in read(f"---\n{lines}\n---\nx").problems if each.code == code]


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        *((f"importance: {each}", "from 0 to 1") for each in ("7", "-1", "nan", "50%", "'0,5'")),
        ("importance: urgent", "low, medium, high"),
        ("importance: [0.2, 0.9]", "from 0 to 1"),
        ("importance: {a: b}", "from 0 to 1"),
        ("pinned: perhaps", "true or false"),
        ("Archived: maybe", "true or false"),
        ("layer: nonsense", "goal, context, emotion, implementation, caveat, learning"),
        ("altitude: x", "mission, strategy, architecture, implementation"),
        ("mem-type: book", "question, comparison, decision"),
        ("mem_state: reading", "open, decided, in_progress"),
    ],
)
def test_a_value_that_is_none_of_the_allowed_is_told_with_them(line: str, allowed: str) -> None:
    (problem,) = bad(f"title: A\n{line}")
    assert (problem.path, problem.line) == ("Inbox/note.md", 3)
    assert "does not count" in problem.reason
    assert allowed in str(problem.hint)


def test_each_such_value_of_a_note_is_told() -> None:
    found = bad("importance: 7\npinned: perhaps\nlayer: nonsense")
    assert [each.line for each in found] == [2, 3, 4]


@pytest.mark.parametrize(
    "line",
    [
        "type: book",
        "status: reading",
        "state: Ohio",
        "importance: 0.5",
        "importance: '[[High]]'",
        "importance:",
        "importance: TBD",
        "importance: '{{importance}}'",
        "pinned: <% x %>",
        "pinned: no",
        "archived: 1",
        "layer: Rule",
        "layer: '[[Why]]'",
        "altitude: Mission",
        "altitude: 1,200 m",
        "mem_state: in progress",
    ],
)
def test_what_counts_what_is_blank_and_what_is_another_persons_field_is_no_problem(
    line: str,
) -> None:
    assert bad(line) == []


@pytest.mark.parametrize(
    "written", ['"a\\nb"', '"a\\tb"', '"\\e[1m"', '"a\\u2028b"', "|-\n  a\n  b"]
)
def test_an_id_that_holds_a_control_character_is_not_used_and_told(written: str) -> None:
    capture = read(f"---\nid: {written}\n---\nx")
    assert capture.declared_id is None
    assert capture.derived_id == derived_id("Inbox/note.md")
    (problem,) = bad(f"title: A\nid: {written}", "bad_id")
    assert problem.line == 3
    assert problem.hint is not None


def test_another_key_may_name_the_id_where_one_cannot_be_used() -> None:
    assert read('---\nid: "a\\nb"\nulid: c\n---\nx').declared_id == "c"


def test_ids_with_spaces_and_slashes_are_ids() -> None:
    assert read("---\nid: a b/c é\n---\nx").declared_id == "a b/c é"
    assert bad("id: a b/c é", "bad_id") == []
