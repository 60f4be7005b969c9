"""A capture as the text that an agent reads."""

from __future__ import annotations

from typing import Any

import pytest

from khiip_sidecar.mcp_server.reading import head_of, page_of, text_of


@pytest.mark.parametrize(
    ("payload", "text"),
    [
        ({"kind": "note", "body_text": "All of it."}, "All of it."),
        ({"kind": "web", "body_text": None}, ""),
        (
            {
                "kind": "x",
                "text": "Look",
                "article": {"title": "Long", "preview": "and longer"},
                "quoted_tweet": {"text": "older"},
            },
            "Look\n\nLong\n\nand longer\n\nQuoted: older",
        ),
        (
            {
                "kind": "reddit",
                "body_text": "Which?",
                "comments": [
                    {
                        "author": "a",
                        "body_markdown": "This.",
                        "replies": [{"author": None, "body_markdown": "No.", "replies": []}],
                    }
                ],
            },
            "Which?\n\na: This.\n\n> someone: No.",
        ),
        (
            {
                "kind": "wiki",
                "sections": [
                    {"heading": None, "text": "Lead."},
                    {"heading": "Uses", "text": "Many."},
                ],
                "references": ["Source one"],
            },
            "Lead.\n\n## Uses\n\nMany.\n\nReferences:\nSource one",
        ),
        (
            {
                "kind": "youtube",
                "description": "About",
                "chapters": [{"start": 61, "title": "Second"}],
                "transcript": [{"start": 3725, "text": "late"}, {"start": None, "text": "when"}],
            },
            "About\n\n[1:01] Second\n\n[1:02:05] late\n[?] when",
        ),
        (
            {
                "kind": "pdf",
                "pages": [{"number": 3, "text": "Third."}],
                "highlights": [{"text": "kept", "note": "mine"}],
            },
            "[page 3]\n\nThird.\n\nHighlight: kept (mine)",
        ),
    ],
)
def test_every_kind_of_payload_reads_as_text(payload: dict[str, Any], text: str) -> None:
    assert text_of({"payload": payload}) == text


def test_a_capture_without_payload_has_no_text() -> None:
    assert text_of({"payload": None}) == ""


def test_pages_are_cut_on_code_points_and_join_to_the_whole() -> None:
    text = "🐘" * 25
    pages, offset = [], 0
    while True:
        page = page_of(text, offset, 10)
        pages.append(page["text"])
        if not page["has_more"]:
            break
        offset = page["next_offset"]
    assert [len(page) for page in pages] == [10, 10, 5]
    assert "".join(pages) == text
    assert page["next_offset"] is None
    assert page["total_chars"] == 25


def test_behind_the_end_there_is_nothing() -> None:
    page = page_of("abc", 9, 10)
    assert (page["text"], page["has_more"], page["next_offset"]) == ("", False, None)


def test_a_head_is_short_whatever_the_note_holds() -> None:
    head = head_of(
        {
            "id": "x",
            "title": "t" * 5000,
            "description": "d" * 5000,
            "user_tags": [f"tag{number}" for number in range(500)],
            "entities": None,
        }
    )
    assert len(head["title"]) == 1001
    assert len(head["description"]) == 601
    assert len(head["user_tags"]) == 30
    assert head["entities"] == []
    assert "payload" not in head
