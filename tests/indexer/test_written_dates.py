"""Dates in the frontmatter that cannot be read are said, once a note, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.types import Problem

from .reading import read


def bad_dates(text: str) -> list[Problem]:
    return [problem for problem in read(text).problems if problem.code == "bad_date"]


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        ("---\ntitle: A\ncreated: Invalid date\n---\nx", 3, "Invalid date"),
        ("---\npublished: soon\n---\n\nx", 2, "soon"),
        (
            "\ufeff---\r\ntags:\r\n  - a\r\n\r\n'Date Modified': 2026-13-45\r\n---\r\n",
            5,
            "2026-13-45",
        ),
        ("\n\n---\ndate: [someday, later]\n---\n", 4, "someday"),
        ("---\nsource: date\nupdated: 08/10/2025\n---\nx", 3, "08/10/2025"),
    ],
)
def test_an_unreadable_date_is_named_with_its_line(text: str, line: int, shown: str) -> None:
    (problem,) = bad_dates(text)
    assert problem.line == line
    assert f"'{shown}'" in problem.reason
    assert problem.path == "Inbox/note.md"
    assert problem.hint is not None


@pytest.mark.parametrize(
    "lines",
    [
        "created: 2026-01-05",
        "created:",
        "created: ''",
        "date: '[[2026-01-05]]'",
        "date: [2026-01-05, 2026-01-06]",
        "published: false",
        "saved: yes",
        "date: TBD",
        "created: '{{date}}'",
        "created: <% tp.date.now() %>",
        "created: {nested: map}",
        "source: j. ae. scs. 25, 1958, 324",
        "due: whenever",
        "year: about 1950",
    ],
)
def test_dates_blanks_switches_and_placeholders_are_no_problem(lines: str) -> None:
    assert bad_dates(f"---\n{lines}\n---\nx") == []


def test_a_note_names_one_bad_date_only() -> None:
    assert len(bad_dates("---\ncreated: never\nupdated: never\npublished: never\n---\n")) == 1


def test_a_bad_date_costs_nothing_but_itself() -> None:
    capture = read("---\ncreated: Invalid date\ndate: 2025-02-03\n---\nx")
    assert capture.recorded_at.year == 2025
    assert capture.extraction_status == "success"


def test_a_list_of_dates_counts_with_its_first() -> None:
    assert read("---\ncreated: [2025-02-03, 2026-01-01]\n---\n").recorded_at.year == 2025


@given(st.text(max_size=60))
def test_no_value_breaks_the_reading(value: str) -> None:
    assert len(bad_dates(f"---\ncreated: {value}\npublished: {value}\n---\n")) <= 1
