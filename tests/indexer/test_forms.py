"""What is hardly a text: templates, and bare lists of links."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from khiip_indexer.captures import read_capture
from khiip_indexer.types import Dates, NoteFile


def form(text: str) -> str | None:
    dates = Dates(datetime(2026, 1, 1, tzinfo=UTC))
    return read_capture(NoteFile("a.md", text.encode(), dates), "v").form


@pytest.mark.parametrize(
    "text",
    [
        "# Knots\n\n- [[Bowline]]\n- [[Clove hitch|the hitch]]\n- [[Reef knot#How]]",
        "[[A]] · [[B]], [[C]]\n[[D]]\n\n1. [E](E.md)\n",
        "---\ntags: [map]\n---\n## Related\n* [ ] [[A]]\n* [[B]]\n* [[C]]\n* [[D]]\nSee also:",
    ],
)
def test_a_bare_list_of_links_is_one(text: str) -> None:
    assert form(text) == "links"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A thought about [[A]], [[B]] and [[C]].",
        "- [[A]]: holds under load\n- [[B]]: slips when wet\n- [[C]]: never use it",
        "- [[A]]\n- [[B]]",
        "- [SQLite](https://sqlite.org)\n- [FTS5](https://sqlite.org/fts5.html)\n- https://a.org",
        "- [[A]]\n- [[B]]\n- [[C]]\n\nWhy I keep these three apart.\n\nThey never met.",
    ],
)
def test_what_says_something_is_none(text: str) -> None:
    assert form(text) is None


def test_a_template_is_known_by_its_placeholders() -> None:
    assert form("---\ncreated: {{date}}\n---\n# {{title}}") == "template"


def test_long_lines_are_read_in_passing() -> None:
    assert form("- [[" + "a" * 200_000 + "\n" + "[" * 100_000 + "\n" + "[[x]]\n" * 3) is None
