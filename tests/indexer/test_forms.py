"""What is hardly a text: templates, and bare lists of links."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from khiip_indexer.captures import read_capture
from khiip_indexer.types import Dates, NoteFile


def form(text: str, path: str = "a.md") -> str | None:
    dates = Dates(datetime(2026, 1, 1, tzinfo=UTC))
    return read_capture(NoteFile(path, text.encode(), dates), "v").form


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


@pytest.mark.parametrize("folder", ["Templates", "_templates/Coffee", "A/99 - Template"])
@pytest.mark.parametrize(
    "text",
    [
        "---\nmaker:\nrating:\n---\n",
        "---\ntags: [daily]\n---\n## Notes\n\n![[Daily.base]]",
        "Dear <% tp.file.title %>,\n\n" + "thank you for the letter. " * 20,
        "# A heading that is rather long and says what is to be filled in\n\n"
        "```dataview\n" + "LIST FROM #books WHERE file.ctime\n" * 10 + "```",
    ],
)
def test_what_is_to_be_filled_in_among_templates_is_one(folder: str, text: str) -> None:
    assert form(text, f"{folder}/Coffee.md") == "template"
    assert form(text, "Notes on templates/Coffee.md") is None
    assert form(text, "Templates.md") is None


def test_a_text_that_lies_among_templates_is_none() -> None:
    text = "Templates save me from the blank page, as long as they ask no more than I know. " * 3
    assert form(text, "Templates/Why.md") is None


def test_long_lines_are_read_in_passing() -> None:
    assert form("- [[" + "a" * 200_000 + "\n" + "[" * 100_000 + "\n" + "[[x]]\n" * 3) is None
