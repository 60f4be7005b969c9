"""Own notes of every form, and what all payloads share."""

from __future__ import annotations

import json

import pytest

from khiip_indexer.payloads import embed_text, payload_json, segments

from .reading import all_text, clip, read, wire

SECTION_11 = {
    "https://x.com/a/status/1": "kind handle text hashtags mentions engagement quoted_tweet "
    "in_reply_to_tweet_id article community_note media urls top_replies",
    "https://www.reddit.com/r/a/comments/b/c/": "kind post_id title post_type body_text link_url "
    "subreddit flair author_username engagement media urls comments comment_count_total",
    "https://a.example/b": "kind title body_text description hero_image_url site_name author_url "
    "section tags article_type language media",
    "https://en.wikipedia.org/wiki/A": "kind title sections references infobox site_name language "
    "hero_image_url media",
    "https://youtu.be/aB3dEfGh1jK": "kind title description duration_seconds uploader chapters "
    "transcript engagement is_short media top_comments",
    "https://a.example/b.pdf": "kind title authors pages figures tables metadata media highlights",
    "no address": "kind title aliases headings body_text tasks links fields",
}


def test_every_payload_has_the_contracts_fields_even_when_empty() -> None:
    for url, names in SECTION_11.items():
        payload = wire(clip(url, ""))
        wanted = names.split()
        assert list(payload)[: len(wanted)] == wanted
        assert payload["kind"] != "note" or url == "no address"
    media = wire(clip("https://a.example/b", "![](https://a.example/c.png)"))["media"][0]
    assert list(media) == ["url", "type", "local_path", "download_status", "alt_text"]


def test_payload_json_is_compact_and_readable_by_every_encoder() -> None:
    text = payload_json(read("half \ud83d emoji, 海 \U0001f30a").payload)
    assert ", " not in text.replace("emoji, ", "")
    assert "海 \U0001f30a" in text
    text.encode()
    json.loads(text)


def test_whole_text_of_a_long_note_is_in_its_segments_with_path_and_line() -> None:
    body = (
        "# Top\n\nIntro.\n\n## One\n\nalpha\n\n### Deep\n\nbeta\n\n## Two\n\n## Three\n\n- gamma\n"
    )
    found = {s.text: (s.headings, s.line) for s in segments(read(body))}
    assert found["Intro."] == (("Top",), 3)
    assert found["beta"] == (("Top", "One", "Deep"), 11)
    assert found["gamma"] == (("Top", "Three"), 17)
    assert found["Two"] == (("Top",), 13)  # nothing stands under it: it is text itself


def test_lines_hold_after_something_was_lifted_out() -> None:
    capture = clip(
        "https://a.example/x", "A\n\n## Comments\n\n> **b** · 1 points\n> c\n\n# Late\n\nd\n"
    )
    assert [(s.text, s.line) for s in segments(capture)][:2] == [("A", 6), ("d", 15)]


def test_meaning_that_stands_only_in_properties_is_embedded_and_found() -> None:
    capture = read("---\ndirector: '[[Ridley Scott]]'\nrating: 7\nimdb: https://i.example/1\n---\n")
    assert "director: Ridley Scott" in embed_text(capture)
    assert "director: Ridley Scott" in all_text(capture)
    assert "rating" not in embed_text(capture)
    assert wire(capture)["properties"]["rating"] == "7"


def test_embed_text_is_the_same_for_the_same_note_and_no_dump() -> None:
    keys = "title: Pump\nauthor: Ann\ndescription: How to prime it"
    text = f"---\n{keys}\n---\n# Pump\n\nFill it first.\n"
    assert embed_text(read(text)) == "Pump\nAnn\nHow to prime it\nFill it first."
    assert embed_text(read(text)) == embed_text(read(text))


def test_machine_text_never_reaches_payload_or_segments() -> None:
    capture = read(
        "Seen. %%secret%% <!-- hidden -->\n\n```dataview\nTABLE x\n"
        "```\n\n```dataviewjs\ndv.y\n```\n\n"
        "<% tp.z %>\n\n![](data:image/png;base64,AAAAAAAA)\n\n```python\nprint('kept')\n```\n"
    )
    sent = payload_json(capture.payload) + all_text(capture)
    for gone in ("secret", "hidden", "TABLE", "dv.y", "tp.z", "AAAAAAAA"):
        assert gone not in sent
    assert "print('kept')" in sent


DRAWING = """---
excalidraw-plugin: parsed
---
==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==

My own caption.

{head}
Halyard here ^aB3dEfGh

Cleat ^zzzzzzzz

{tail}
```compressed-json
N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATL
```
%%"""


def test_only_words_of_a_drawing_are_text() -> None:
    old = DRAWING.format(head="# Text Elements", tail="%%\n# Drawing")
    new = DRAWING.format(head="%%\n# Excalidraw Data\n## Text Elements", tail="## Drawing")
    for text in (old, new):
        capture = read(text)
        words = all_text(capture)
        assert "Halyard here" in words
        assert "Cleat" in words
        assert "My own caption." in words
        assert "N4KAk" not in payload_json(capture.payload)
        assert "EXCALIDRAW VIEW" not in words
        assert "^" not in words


def test_memory_entity_relations_are_neither_pages_nor_fields() -> None:
    capture = read(
        "---\nentityType: person\ncreated: 2026-01-02\n---\n## Observations\n- likes fog\n\n"
        "## Relations\n- [[Manager of::Alice]]\n",
        "Bob.md",
    )
    payload = wire(capture)
    assert payload["relations"] == [{"type": "Manager of", "target": "Alice"}]
    assert payload["observations"] == [{"category": "note", "text": "likes fog"}]
    assert payload["links"] == [] and payload["fields"] == {}
    assert capture.entities == ("Bob", "Alice")


def test_checkboxes_links_and_times_are_no_observations() -> None:
    capture = read(
        "---\ntitle: R\ntype: tool\npermalink: r\n---\n- [x] done\n- [text](https://a.example)\n"
        "- [00:00:11] said\n- [fact] true\n- #only\n"
    )
    assert [(o["category"], o["text"]) for o in wire(capture)["observations"]] == [
        ("fact", "true"),
        ("Note", "#only"),
    ]


def test_saved_chat_of_the_editor_has_turns_and_no_stamps() -> None:
    capture = read(
        '---\nepoch: 1767037786951\nmodelKey: "m|g"\ntopic: "Knots"\n'
        "tags:\n  - copilot-conversation\n---\n\n"
        "**user**: Which knot?\n[Timestamp: 2025/12/30 03:49:46]\n\n**ai**: A bowline.\n"
        "[Timestamp: 2025/12/30 03:49:47]\n"
    )
    payload = wire(capture)
    assert (capture.source, capture.title) == ("note", "Knots")
    assert capture.recorded_at.isoformat().startswith("2025-12-29T19:49:46")
    assert [(t["role"], t["text"]) for t in payload["turns"]] == [
        ("user", "Which knot?"),
        ("assistant", "A bowline."),
    ]
    assert "Timestamp" not in all_text(capture)


def test_logseq_page_has_its_own_properties_tasks_and_day() -> None:
    capture = read(
        "title:: Boats\ntags:: sea, wood\n\n- TODO Sand the hull\n  id:: 6500\n\t- a note\n"
        "\t  collapsed:: true\n",
        "journals/2026_01_02.md",
    )
    payload = wire(capture)
    assert (capture.title, capture.user_tags) == ("Boats", ("sea", "wood"))
    assert capture.recorded_at.isoformat() == "2026-01-02T00:00:00+00:00"
    assert [task["text"] for task in payload["tasks"]] == ["Sand the hull"]
    assert payload["fields"] == {}
    assert "6500" not in all_text(capture)


def test_pocket_note_is_its_excerpt() -> None:
    capture = read(
        "\n---\nTitle: Fog\nURL: https://fog.example/a\nTags: [pocket, sea]\n"
        "Excerpt: >\n  Thick fog.\n---\n"
        "https://fog.example/a\n\n#pocket #sea\n"
    )
    assert (capture.source, capture.title, capture.description) == ("web", "Fog", "Thick fog.")
    assert capture.url == "https://fog.example/a"


# Text that a person would want --------------------------------------------------------------


def test_text_does_not_begin_by_repeating_the_title() -> None:
    capture = read("---\ntags: [a]\n---\n# Tide  Tables\n\nLow at five.\n\n# Tide tables\n\nMore.")
    assert capture.title == "Tide  Tables"
    assert wire(capture)["body_text"] == "Low at five.\n\nTide tables\n\nMore."
    assert wire(capture)["headings"][0] == {"level": 1, "text": "Tide  Tables", "line": 4}
    assert embed_text(capture).splitlines()[:2] == ["Tide  Tables", "Low at five."]


@pytest.mark.parametrize("url", ["https://a.example/b", "https://www.reddit.com/r/a/comments/b/c/"])
def test_a_clip_does_not_begin_by_repeating_the_title(url: str) -> None:
    assert wire(clip(url, "# A page\n\nIts text."))["body_text"] == "Its text."
    assert wire(clip(url, "# Another\n\nIts text."))["body_text"] == "Another\n\nIts text."


def test_pages_of_a_document_do_not_begin_with_its_title() -> None:
    payload = wire(clip("https://a.example/b.pdf", "# A page\n\nIts text."))
    assert payload["pages"] == [{"number": 1, "text": "Its text."}]


def test_lines_of_tags_are_tags_and_no_text() -> None:
    capture = read("#boat/hull #winter\n\nVarnish it.\n#later\nThen #dry it.\n\n- #kept")
    assert capture.user_tags == ("boat/hull", "winter", "later", "dry", "kept")
    assert wire(capture)["body_text"] == "Varnish it.\nThen #dry it.\n\n#kept"
    assert embed_text(capture).splitlines()[-1] == "boat hull, winter, later"
    assert "#boat" not in all_text(capture)


def test_lines_of_tags_in_a_clip_are_its_text() -> None:
    assert wire(clip("https://x.com/a/status/1", "Look!\n\n#kites"))["text"] == "Look!\n\n#kites"


def test_observations_read_as_sentences() -> None:
    capture = read(
        "---\ntitle: Radio\ntype: tool\npermalink: a/radio\n---\n"
        "- [fact] Listens on 12 #vhf #marine (crew log)\n- part_of [[Boat]] (since May)\n"
        "```\n- [fact] code #kept\n```\n"
    )
    assert wire(capture)["body_text"] == (
        "fact: Listens on 12 (crew log)\npart of Boat (since May)\n\n- [fact] code #kept"
    )
    assert capture.user_tags == ("vhf", "marine")
    assert wire(capture)["observations"][0]["tags"] == ["vhf", "marine"]


def test_a_snip_that_is_only_summed_up_keeps_the_summary() -> None:
    capture = read(
        "# Bees\n## Episode metadata\n- Show: Hedge Talk\n## Snips\n"
        "### [Cluster heat](https://share.snipd.com/snip/1)\n\n🎧 12:30 - 13:45 (01:15)\n\n"
        "- Bees shiver to stay warm\n\n#### 💬 Quote\n> They shiver.\n"
    )
    assert wire(capture)["body_text"] == "They shiver.\n\nBees shiver to stay warm"
    assert [mark["text"] for mark in wire(capture)["highlights"]] == ["They shiver."]
