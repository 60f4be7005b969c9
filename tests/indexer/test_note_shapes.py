"""Each tool's example note gives the capture that its row of the field research says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from khiip_indexer.captures import read_capture
from khiip_indexer.payloads import payload_json, primary_text
from khiip_indexer.types import Capture, Dates, NoteFile

EXAMPLES = Path(__file__).parent / "shapes_examples"
MTIME = datetime(2030, 1, 1, tzinfo=UTC)
NAMES = {
    5: "2026-06-02.md",
    14: "tides.md",
    16: "@holmKnots2011.md",
    23: "Ice on the river.md",
    20: "Slow mail.md",
    28: "Descale.md",
    31: "Boat board.md",
    26: "greta_kites - 1590000000000000001.md",
}
OBSIDIAN = "obsidian://open?vault=Harbour&file="

# number, source, title, url, author, recorded_at, valid_from (None: as recorded_at), tags
ROWS: list[tuple[int, str, str, str | None, str | None, str, str | None, tuple[str, ...]]] = [
    (1, "web", "Sharpening a kitchen knife: a slow guide", "https://tools.example/blog/sharpening",
     "Mira Okonjo, Leo Brandt", "2026-05-20", "2024-03-02", ("clippings",)),
    (2, "x", "Post by @lena_orn on X", "https://x.com/lena_orn/status/2100000000000000001",
     "lena_orn", "2026-05-20", "2026-05-19", ("clippings",)),
    (3, "youtube", "Repotting a lemon tree", "https://www.youtube.com/watch?v=aB3dEfGh1jK&t=12s",
     "Balcony Orchard", "2026-07-15", "2023-01-21", ("clippings",)),
    (4, "reddit", "My sourdough keeps collapsing",
     "https://www.reddit.com/r/slowbread/comments/1zz9abc/my_sourdough/",
     "quiet_crumb", "2026-05-01", "2026-04-30", ("clippings",)),
    (5, "note", "2026-06-02", None, None, "2026-06-02", None, ("daily", "boat")),
    (6, "web", "Why Lighthouses Blink Differently, and Who Decides", "https://coast.example/blink",
     "Hanne Moor", "2026-03-13T18:32", None, ("sea", "favorite")),
    (7, "x", "Salt fixes more soups than...",
     "https://twitter.com/ladle_log/status/1700000000000000001", "ladle_log", "mtime", None, ()),
    (8, "wiki", "Gaff rig", "https://en.wikipedia.org/wiki/Gaff_rig", None, "2026-04-11", None,
     ("clippings",)),
    (9, "pdf", "Wave height and sleep on small boats", "https://doi.org/10.5555/wave.2021.7",
     "Nora Vidal, Sam Ishii", "2026-02-01T20:33:44+01:00", "2021-01-01", ("sleep", "sailing")),
    (10, "x", "Coral counts are in. (QRT @bluelab)",
     "https://x.com/tomo_reef/status/2110000000000000007", "tomo_reef",
     "2026-06-01T08:15:42.318207+00:00", "2026-05-31T21:04:00+00:00", ()),
    (11, "web", "Packing list for a cold ferry",
     "https://chatgpt.com/c/70000000-aaaa-83e9-bb81-000000000001", None, "2026-07-17", None,
     ("clippings",)),
    (12, "note", "Harbour radio", None, None, "2026-03-04T10:00:00+01:00", None, ("radio", "vhf")),
    (13, "pdf", "Rope handbook", None, None, "mtime", None, ("reading",)),
    (14, "pdf", "tides", None, None, "2026-03-14T22:23:53", None, ("moon",)),
    (15, "pdf", "Fog signals: a survey", None, None, "mtime", None, ()),
    (16, "pdf", "Knots: a short history", None, "Ada Holm, Rui Paz", "mtime", "2011-01-01", ()),
    (18, "pdf", "The Patient Gardener: Notes From a Small Plot",
     "https://www.amazon.com/dp/B0EXAMPLE1", "Ruth Amsel, Kofi Dade", "2026-02-14", None, ()),
    (19, "web", "Rain barrels that do not smell", "https://garden.example/barrels", "Ilse Tamm",
     "2024-02-29T13:55:32", None, ()),
    (20, "web", "Slow mail", "https://letters.example/slow-mail", "Vera Lund", "2026-01-09",
     "2025-12-30", ()),
    (21, "web", "Old roads on new maps", "https://maps.example/old-roads", None,
     "2026-01-12T10:00+01:00", None, ()),
    (22, "web", "Glaze chemistry for beginners", "https://clay.example/glaze", None,
     "2026-01-19T15:19:49", None, ("kiln",)),
    (23, "web", "Ice on the river", "https://rivers.example/ice", "Jon Aker", "mtime",
     "2025-01-04", ("cold_water", "ice")),
    (24, "web", "Bees in winter", "https://share.snipd.com/episode/00000000-aaaa", "Una Roe",
     "2026-01-20T09:12", "2026-01-11", ("bees",)),
    (25, "youtube", "Rigging basics", "https://www.youtube.com/watch?v=zZ9yXwVu8tS", None, "mtime",
     None, ()),
    (26, "x", "Wind at 200 m is another country.",
     "https://twitter.com/greta_kites/status/1590000000000000001", "greta_kites",
     "2023-05-02T08:00", "2023-04-29T15:14", ()),
    (28, "web", "Descale", "https://kettle.example/descale", None, "mtime", None,
     ("kitchen/care",)),
    (29, "note", "Oar length",
     "https://claude.ai/chat/e3520000-0000-4000-8000-000000000001", None,
     "2026-02-02T07:10:05", "2026-02-02T05:46:22", ()),
    (30, "note", "ferry-booking-by-phone", None, None, "2026-09-08T19:29:56", None, ()),
    (31, "note", "Boat board", None, None, "mtime", None, ()),
]  # fmt: skip


def capture_of(number: int) -> Capture:
    raw = (EXAMPLES / f"{number:02d}.md").read_bytes()
    path = NAMES.get(number, f"Inbox/{number:02d}.md")
    return read_capture(NoteFile(path, raw, Dates(MTIME)), "Harbour")


def payload_of(number: int) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(payload_json(capture_of(number).payload))
    return loaded


def when(text: str) -> datetime:
    if text == "mtime":
        return MTIME
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@pytest.mark.parametrize("row", ROWS, ids=[f"shape-{row[0]}" for row in ROWS])
def test_example_gives_the_fields_of_its_row(row: Any) -> None:
    number, source, title, url, author, recorded, valid, tags = row
    capture = capture_of(number)
    assert capture.problems == () or number == 16
    assert capture.source == source == capture.payload.kind
    assert capture.title == title
    if url is None:
        assert capture.url.startswith(OBSIDIAN)
    else:
        assert capture.url == url
    assert capture.author == author
    assert capture.recorded_at == when(recorded)
    assert capture.valid_from == when(valid or recorded)
    assert capture.user_tags == tags


def test_web_clip_keeps_marks_and_footnotes_as_text() -> None:
    payload = payload_of(1)
    assert "Count ten strokes a side, then feel for the burr." in payload["body_text"]
    assert "Measured with a phone level." in payload["body_text"]
    assert "==" not in payload["body_text"]
    assert payload["site_name"] == "tools.example"
    assert [mark["text"] for mark in payload["highlights"]] == ["Count ten strokes a side"]


def test_x_clip_joins_own_posts_and_lifts_the_quoted_one() -> None:
    payload = payload_of(2)
    assert payload["handle"] == "lena_orn"
    assert payload["text"].endswith("ice water.\n\n2. Steam did nothing after minute 12.")
    assert payload["quoted_tweet"]["handle"] == "otto_vale"
    assert payload["quoted_tweet"]["text"] == "Does steam matter?"
    assert payload["quoted_tweet"]["posted_at"].startswith("2026-05-18")
    assert payload["status_id"] == "2100000000000000001"


def test_youtube_clip_has_description_chapters_and_timed_transcript() -> None:
    payload = payload_of(3)
    assert payload["video_id"] == "aB3dEfGh1jK"
    assert payload["uploader"] == "Balcony Orchard"
    assert payload["description"] == "Soil mix and one mistake. #citrus"
    assert payload["chapters"] == [{"start": 25, "title": "Soil"}]
    assert payload["transcript"] == [{"start": 25, "text": "so today we mix two parts bark"}]


def test_reddit_clip_has_its_comment_tree() -> None:
    payload = payload_of(4)
    assert (payload["subreddit"], payload["post_id"]) == ("slowbread", "1zz9abc")
    assert payload["body_text"] == ""
    (first,) = payload["comments"]
    assert (first["author"], first["points"], first["depth"]) == ("oven_ghost", 12, 0)
    (reply,) = first["replies"]
    assert (reply["author"], reply["points"], reply["depth"]) == ("quiet_crumb", 2, 1)
    assert reply["is_op"] is True
    assert reply["body_markdown"] == "That was it."


def test_daily_note_has_tasks_fields_links_and_callouts_but_no_comment() -> None:
    payload = payload_of(5)
    assert payload["aliases"] == ["Boat day"]
    assert [heading["text"] for heading in payload["headings"]] == ["Tasks"]
    first, second = payload["tasks"]
    assert (first["due"], first["priority"], first["done"]) == ("2026-06-03", "high", False)
    assert (second["due"], second["state"]) == ("2026-06-09", "in_progress")
    links = {(link["target"], link.get("heading")) for link in payload["links"]}
    assert links == {("Ines Falk", None), ("Tide tables", "June")}
    assert payload["fields"] == {"Weather": "clear", "apples": "2", "with": "Ines Falk"}
    assert payload["callouts"][0]["kind"] == "warning"
    assert payload["callouts"][0]["folded"] is True
    assert payload["block_ids"] == ["lunch"]
    assert "private" not in json.dumps(payload)
    assert payload["properties"]["people"] == ["Ines Falk"]


def test_readwise_article_is_its_highlights_with_tags_and_notes() -> None:
    payload = payload_of(6)
    first, second = payload["highlights"]
    assert (first["text"], first["tags"], first["note"]) == (
        "A rhythm is a name.",
        ["naming"],
        "use in talk",
    )
    assert second["text"] == "Two lights\nnever share one."
    assert payload["body_text"] == "A rhythm is a name.\n\nTwo lights\nnever share one."
    assert capture_of(6).importance == 0.8
    assert capture_of(6).recorded_at_from == "body"


def test_readwise_tweets_are_posts_and_their_colours_no_tags() -> None:
    payload = payload_of(7)
    assert payload["handle"] == "ladle_log"
    assert payload["text"].startswith("Salt fixes more soups than stock does.")
    assert payload["text"].endswith("1. Salt early.")
    assert payload["highlights"][1]["color"] == "pink"
    assert "tags" not in payload["highlights"][1]


def test_wikipedia_clip_has_sections_and_keeps_references_apart() -> None:
    payload = payload_of(8)
    lead, history = payload["sections"]
    assert lead["heading"] is None
    assert lead["text"] == "Gaff rig is a way to carry a sail on a mast."
    assert history["heading"] == "History"
    assert payload["references"] == ["Vane, T. (1999). Rigs. p. 4."]
    assert payload["language"] == "en"
    assert payload["page_created"] == "2003-08-11"


def test_zotero_note_parts_highlight_comment_and_own_notes() -> None:
    payload = payload_of(9)
    assert payload["authors"] == ["Nora Vidal", "Sam Ishii"]
    assert payload["citekey"] == "vidalWaveHeight2021"
    (mark,) = payload["highlights"]
    assert mark["text"] == "Crews slept 40 minutes less."
    assert (mark["color"], mark["label"], mark["note"]) == ("yellow", "614", "small sample!")
    assert mark["page"] is None
    assert payload["own_notes"] == "Compare with own log."


def test_khiip_note_takes_text_and_quoted_post_from_the_body() -> None:
    payload = payload_of(10)
    assert payload["text"] == "Coral counts are in.\nUp 4% on last year."
    assert payload["quoted_tweet"]["handle"] == "bluelab"
    assert payload["quoted_tweet"]["url"] == "https://x.com/bluelab/status/2109000000000000001"
    assert payload["quoted_tweet"]["text"] == "Survey starts Monday."


def test_ai_chat_has_turns_and_a_thread() -> None:
    payload = payload_of(11)
    assert payload["site_name"] == "ChatGPT"
    assert [turn["role"] for turn in payload["turns"]] == ["user", "assistant"]
    assert [turn["text"] for turn in payload["turns"]] == [
        "What do I forget most often?",
        "Dry socks.",
    ]
    assert capture_of(11).thread_id == "70000000-aaaa-83e9-bb81-000000000001"


def test_basic_memory_has_observations_relations_and_plain_links() -> None:
    payload = payload_of(12)
    (seen,) = payload["observations"]
    assert (seen["category"], seen["context"], seen["tags"]) == ("fact", "crew log", ["vhf"])
    assert seen["text"].startswith("Listens on channel 12")
    assert payload["relations"] == [
        {"type": "replaced by", "target": "New handset", "context": "planned"}
    ]
    assert [link["target"] for link in payload["links"]] == ["Ines Falk"]
    assert len(payload["tasks"]) == 1
    assert capture_of(12).entities[0] == "Harbour radio"


def test_pdf_quotation_has_sheet_label_colour_and_comment() -> None:
    payload = payload_of(13)
    assert payload["file"] == "Rope handbook.pdf"
    assert [page["number"] for page in payload["pages"]] == [83]
    (mark,) = payload["highlights"]
    assert mark["text"] == "A splice keeps nine tenths of the strength."
    assert (mark["page"], mark["label"], mark["color"]) == (83, "64", "yellow")
    assert mark["note"] == "check against table 2"


def test_annotator_json_and_context_never_reach_the_text() -> None:
    payload = payload_of(14)
    assert payload["file"] == "Pdfs/tides.pdf"
    (mark,) = payload["highlights"]
    assert (mark["text"], mark["note"], mark["id"], mark["page"]) == (
        "neap tides lag",
        "why?",
        "a1b2c3",
        None,
    )
    sent = json.dumps(payload)
    assert "In most bays" not in sent
    assert "TextQuoteSelector" not in sent


def test_zotlit_callout_has_its_page() -> None:
    payload = payload_of(15)
    assert payload["citekey"] == "harlowFogSignals2009"
    assert payload["zotero_key"] == "QW34ER56"
    (mark,) = payload["highlights"]
    assert (mark["text"], mark["page"]) == ("Sound bends upward in a head wind.", 4)


def test_citation_note_is_the_readers_own_words() -> None:
    payload = payload_of(16)
    assert payload["authors"] == ["Ada Holm", "Rui Paz"]
    assert payload["citekey"] == "holmKnots2011"
    assert payload["own_notes"].startswith("Main claim: sailors copied weavers.")
    assert [link["target"] for link in payload["links"]] == ["@vidalWaveHeight2021"]


def test_kindle_highlight_has_location_note_and_id() -> None:
    payload = payload_of(18)
    assert payload["authors"] == ["Ruth Amsel", "Kofi Dade"]
    assert payload["asin"] == "B0EXAMPLE1"
    (mark,) = payload["highlights"]
    assert mark["text"] == "Water the root, not the leaf."
    assert (mark["location"], mark["note"], mark["id"]) == (503, "true for tomatoes", "ref-884")


def test_web_highlights_of_other_tools() -> None:
    (omnivore,) = payload_of(19)["highlights"]
    assert (omnivore["text"], omnivore["tags"], omnivore["id"]) == (
        "Shade is half the cure.",
        ["todo"],
        "77aa12bc",
    )
    (instapaper,) = payload_of(20)["highlights"]
    assert (instapaper["note"], instapaper["id"]) == ("keep for the essay", "h1700001")
    (raindrop,) = payload_of(21)["highlights"]
    assert (raindrop["text"], raindrop["color"], raindrop["note"]) == (
        "Hedges outlive fences.",
        "red",
        "my village too",
    )
    (hypothesis,) = payload_of(22)["highlights"]
    assert (hypothesis["tags"], hypothesis["group"]) == (["kiln"], "Public")
    assert hypothesis["note"] == "compare with ash"
    assert payload_of(22)["site_name"] == "clay.example"
    (matter,) = payload_of(23)["highlights"]
    assert (matter["text"], matter["note"]) == ("Black ice sings.", "recorded once")


def test_snipd_snip_has_span_and_star() -> None:
    payload = payload_of(24)
    assert payload["site_name"] == "Hedge Talk"
    (snip,) = payload["highlights"]
    assert snip["text"] == "They shiver to keep the queen warm."
    assert (snip["start"], snip["end"], snip["starred"]) == (750, 825, True)


def test_timed_notes_on_a_video_are_no_transcript() -> None:
    payload = payload_of(25)
    assert payload["video_id"] == "zZ9yXwVu8tS"
    assert payload["transcript"] == []
    assert payload["notes"] == [
        {"start": 25.31, "text": "halyard first"},
        {"start": 790, "text": "ask about shackles"},
    ]


def test_tweet_to_markdown_has_counts_and_undone_links() -> None:
    payload = payload_of(26)
    assert payload["handle"] == "greta_kites"
    assert payload["text"] == "Wind at 200 m is another country. #kites"
    assert payload["hashtags"] == ["kites"]
    counts = payload["engagement"]
    assert (counts["likes"], counts["shares"], counts["comments"]) == (4, 0, 1)
    assert payload["media"] == []  # the avatar is not the post's


def test_imported_note_has_task_and_reminder() -> None:
    payload = payload_of(28)
    assert "One spoon per litre." in payload["body_text"]
    assert len(payload["tasks"]) == 1
    assert payload["reminder"] == "2026-01-20T07:00:00"


def test_imported_chat_is_a_note_with_turns_and_provider() -> None:
    payload = payload_of(29)
    assert payload["provider"] == "claude"
    assert [turn["role"] for turn in payload["turns"]] == ["user"]
    assert payload["turns"][0]["text"] == "How long should an oar be for a 3 m dinghy?"
    assert capture_of(29).thread_id == "e3520000-0000-4000-8000-000000000001"
    assert "UID" not in payload["body_text"]


def test_agent_memory_has_summary_layer_and_thread() -> None:
    capture, payload = capture_of(30), payload_of(30)
    assert payload["description"].startswith("Ferry seats must be booked by phone")
    assert [link["target"] for link in payload["links"]] == ["ferry-timetable"]
    assert capture.layer == "feedback"
    assert capture.thread_id == "885e0000-0000-4b9e-9b32-000000000001"


def test_board_cards_take_their_lane_as_state() -> None:
    payload = payload_of(31)
    assert [heading["text"] for heading in payload["headings"]] == ["Doing", "Done"]
    sand, rope = payload["tasks"]
    assert (sand["text"], sand["due"], sand["state"]) == ("Sand the hull", "2026-06-09", "Doing")
    assert (rope["text"], rope["done"], rope["state"]) == ("Buy rope", True, "Done")
    assert "kanban" not in payload["body_text"]
    assert "Complete" not in payload["body_text"]


@pytest.mark.parametrize("number", [row[0] for row in ROWS])
def test_primary_text_is_shown_for_every_example(number: int) -> None:
    text, origin = primary_text(capture_of(number))
    assert origin
    assert text or number == 4  # a link post with comments only
