"""Videos, podcasts, pages, encyclopedia articles and documents."""

from __future__ import annotations

import json

import pytest

from khiip_indexer.payloads import primary_text, segments

from .reading import all_text, clip, read, wire

VIDEO = "https://www.youtube.com/watch?v=aB3dEfGh1jK"


def test_older_list_transcript_and_hours() -> None:
    payload = wire(clip(VIDEO, (
        "About it.\n\n## Transcript\n\n- 0:25 first words\n- 1:02:33 \\[Music\\] last words\n"
    )))  # fmt: skip
    assert payload["transcript"] == [
        {"start": 25, "text": "first words"},
        {"start": 3753, "text": "[Music] last words"},
    ]


def test_transcript_without_times_is_one_entry() -> None:
    payload = wire(clip(VIDEO, "About it.\n\n## Transcript\n\nso today we mix\n"))
    assert payload["transcript"] == [{"start": 0, "text": "so today we mix"}]
    assert payload["description"] == "About it."


def test_chapters_come_from_the_description_where_headings_name_none() -> None:
    payload = wire(clip(VIDEO, "About it.\n\n00:00 Start\n00:37 Soil and sand\n1:02:03 End\n"))
    assert payload["chapters"] == [
        {"start": 0, "title": "Start"},
        {"start": 37, "title": "Soil and sand"},
        {"start": 3723, "title": "End"},
    ]


def test_transcript_segments_stand_under_their_chapter_with_their_line() -> None:
    capture = clip(
        VIDEO, "## Transcript\n\n### Soil\n\n**0:25** · bark\n\n### Pot\n\n**1:05** · clay\n"
    )
    found = [(s.text, s.headings, s.line) for s in segments(capture)]
    assert found == [("bark", ("Transcript", "Soil"), 10), ("clay", ("Transcript", "Pot"), 14)]
    assert primary_text(capture) == ("bark\nclay", "transcript")


def test_video_comments_and_own_notes_are_kept_apart_from_the_transcript() -> None:
    capture = clip(VIDEO, (
        "## Transcript\n\n**0:25** · bark\n\n## Comments\n\n"
        "> **ann** · 2026-01-02\n> \n> Thanks.\n\n"
        "## Notes\n\nRepot in May.\n"
    ))  # fmt: skip
    payload = wire(capture)
    assert [c["author"] for c in payload["top_comments"]] == ["ann"]
    assert len(payload["transcript"]) == 1
    assert "Repot in May." in payload["description"]


@pytest.mark.parametrize(
    ("written", "value"), [("12:34", 754), ("PT1H2M3S", 3723), ("95", 95), ("long", None)]
)
def test_durations(written: str, value: int | None) -> None:
    assert wire(clip(VIDEO, "x", duration=written))["duration_seconds"] == value


def test_short_is_known_by_its_address() -> None:
    assert wire(clip("https://www.youtube.com/shorts/aB3dEfGh1jK", "x"))["is_short"] is True


def test_five_timed_links_to_one_video_are_a_transcript() -> None:
    lines = "\n".join(
        f"[00:{n:02d}](https://www.youtube.com/watch?v=aB3dEfGh1jK&t={n}) words {n}"
        for n in range(5)
    )
    capture = read(f"## Rigging\n\n{lines}\n")
    assert capture.source == "youtube"
    assert wire(capture)["transcript"][4] == {"start": 4, "text": "words 4"}
    assert capture.url == VIDEO
    few = read("\n".join(lines.split("\n")[:4]))
    assert few.source == "note"


def test_heading_inside_timed_notes_is_no_title_but_the_rich_templates_is() -> None:
    stamp = "[00:05](https://www.youtube.com/watch?v=aB3dEfGh1jK#t=5) knot"
    notes = read(f"---\nmedia: {VIDEO}\n---\n## Questions\n\n{stamp}\n", "Video.md")
    assert notes.title == "Video"
    lines = "\n".join(f"[00:{n:02d}]({VIDEO}&t={n}) words" for n in range(5))
    rich = read(f"## Rigging\n\n**Source**: {VIDEO}\n**Retrieved**: 2026-02-03\n\n{lines}\n")
    assert (rich.title, rich.recorded_at_from) == ("Rigging", "body")
    assert len(wire(rich)["transcript"]) == 5


def test_podnotes_moments_are_the_listeners_notes() -> None:
    capture = read(
        '---\ntype: podcastEpisode\npodcast: "[[Hedge Talk]]"\n---\n# Bees\n'
        "- [1:23](obsidian://podnotes?episodeName=B&url=u&time=83) they shiver\n"
    )
    payload = wire(capture)
    assert (capture.source, payload["site_name"]) == ("web", "Hedge Talk")
    assert payload["notes"] == [{"start": 83, "text": "they shiver"}]


# Wikipedia ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "title",
    [
        "Gaff rig - Wikipedia",
        "Gaff rig — Wikipédia",
        "Gaff rig – Wikipedia",
        "Gaff rig - 维基百科，自由的百科全书",
        "Gaff rig - ウィキペディア",
        "Gaff rig — Википедия",
    ],
)
def test_site_name_leaves_the_title_in_any_language(title: str) -> None:
    capture = clip("https://en.wikipedia.org/wiki/Gaff_rig", "x", title=title,
                   author="[[Contributors to Wikimedia projects]]")  # fmt: skip
    assert (capture.title, capture.author) == ("Gaff rig", None)


def test_title_with_a_dash_of_its_own_stays() -> None:
    assert clip("https://en.wikipedia.org/wiki/A", "x", title="Rig - a history").title == (
        "Rig - a history"
    )


def test_infobox_and_references_are_no_lead() -> None:
    capture = clip("https://de.wikipedia.org/wiki/Gaffel", (
        "| Rig | Gaff |\n| --- | --- |\n| Sails | four |\n\n"
        "A gaff is a spar.[^1]\n\n## Use\n\nOn boats.\n\n"
        "[^1]: Vane, T.\n    *Rigs*, p. 4\n[^2]: Other.\n"
    ))  # fmt: skip
    payload = wire(capture)
    assert payload["infobox"] == {"Rig": "Gaff", "Sails": "four"}
    assert primary_text(capture) == ("A gaff is a spar.", "sections")
    assert [part["heading"] for part in payload["sections"]] == [None, "Use"]
    assert len(payload["references"]) == 2
    assert "Vane" not in all_text(capture)
    assert payload["language"] == "de"


# Pages -------------------------------------------------------------------------------------


def test_comments_of_other_networks_are_lifted_out_of_the_text() -> None:
    capture = clip("https://news.ycombinator.com/item?id=1", (
        "[https://a.example](https://a.example)\n\n---\n\n## Comments\n\n"
        "> **ann** · [2026-01-02](https://news.ycombinator.com/item?id=22)\n> \n> Old news.\n"
    ))  # fmt: skip
    payload = wire(capture)
    assert "Old news." not in payload["body_text"]
    assert payload["comments"][0]["id"] == "22"
    assert "Old news." in all_text(capture)


def test_heading_named_comments_without_comments_stays_text() -> None:
    capture = clip("https://a.example/x", "Start.\n\n## Comments\n\nWe close **comments** soon.\n")
    assert "We close comments soon." in wire(capture)["body_text"]


@pytest.mark.parametrize("label", ["**Você disse**", "**You said**", "##### You said:"])
def test_rule_inside_an_answer_opens_no_turn(label: str) -> None:
    answer = "##### ChatGPT said:" if label.startswith("#") else "**ChatGPT said**"
    body = f"{label}\n\nHow?\n\n---\n\n{answer}\n\nFirst.\n\n---\n\nSecond.\n"
    turns = wire(clip("https://chatgpt.com/c/70000000-aaaa", body))["turns"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"]
    assert turns[1]["text"].startswith("First.")
    assert turns[1]["text"].endswith("Second.")


def test_media_of_a_page_with_local_copies() -> None:
    payload = wire(
        clip("https://a.example/x", "![A gull](https://a.example/g.webp) ![[kept.mp4]]\n")
    )
    assert [(m["url"], m["type"], m["local_path"], m["download_status"], m["alt_text"])
            for m in payload["media"]] == [
        ("https://a.example/g.webp", "photo", None, "not-attempted", "A gull"),
        ("kept.mp4", "video", "kept.mp4", "downloaded", None),
    ]  # fmt: skip


def test_markdownload_excerpt_is_the_description() -> None:
    capture = read(
        "---\ncreated: 2021-06-03T09:19:32 (UTC -03:00)\n"
        "tags: [bread]\nsource: https://a.example/b\n"
        "author: Ann\n---\n# Bread\n\n> ## Excerpt\n> Slow is good.\n\n---\nThe article.\n"
    )
    assert capture.description == "Slow is good."
    assert "Excerpt" not in wire(capture)["body_text"]
    assert capture.recorded_at.isoformat() == "2021-06-03T12:19:32+00:00"


# Documents ---------------------------------------------------------------------------------


def test_document_text_is_one_page_or_as_many_as_its_headings_say() -> None:
    one = wire(clip("https://a.example/p.pdf", "All of it.\n"))
    assert one["pages"] == [{"number": 1, "text": "All of it."}]
    two = wire(clip("https://a.example/p.pdf", "## Page 1\n\nA\n\n## Page 2\n\nB\n"))
    assert two["pages"] == [{"number": 1, "text": "A"}, {"number": 2, "text": "B"}]


def test_zotero_templates_of_other_people() -> None:
    link = "zotero://open-pdf/library/items/AB12CD34?page=iv&annotation=EF56GH78"
    capture = read(
        f"---\ntitle: T\ncitekey: '@k'\n---\n"
        f'<mark class="hltr-yellow">"Marked words"</mark> [Page iv]({link})\n\n'
        f"> [!quote|orange]+ Highlight ([page. 614]({link}))\n> Quoted words.\n\n"
        f"- “Listed words” ([pdf]({link}))\n"
    )
    payload = wire(capture)
    assert [(m["text"], m.get("color"), m.get("label")) for m in payload["highlights"]] == [
        ("Marked words", "yellow", "iv"),
        ("Quoted words.", "orange", "614"),
        ("Listed words", None, None),
    ]
    assert payload["citekey"] == "k"


def test_own_note_that_cites_many_pdfs_stays_a_note() -> None:
    capture = read(
        "> [!PDF|red] [[a.pdf#page=1&selection=0,0,1,1|a, p.1]]\n> > One.\n\n"
        "> ([[b.pdf#page=2&selection=0,0,1,1|b]])\n> Two.\n\nMy words.\n"
    )
    assert capture.source == "note"
    assert [m["text"] for m in wire(capture)["highlights"]] == ["One.", "Two."]


def test_logseq_pdf_note() -> None:
    capture = read(
        "file:: [Tides](../assets/tides.pdf)\nfile-path:: ../assets/tides.pdf\n\n"
        "- neap tides lag\n  ls-type:: annotation\n  hl-page:: 3\n  hl-color:: yellow\n"
        "  hl-stamp:: 1767225600000\n- hl-page:: 4\n  ls-type:: annotation\n  id:: 1\n  [:span]\n",
        "hls__tides.md",
    )
    payload = wire(capture)
    assert (capture.source, capture.title) == ("pdf", "Tides")
    assert capture.recorded_at.isoformat() == "2026-01-01T00:00:00+00:00"
    (mark,) = payload["highlights"]
    assert (mark["text"], mark["page"], mark["color"]) == ("neap tides lag", 3, "yellow")
    assert payload["pages"] == [{"number": 3, "text": "neap tides lag"}]


def test_readwise_list_inside_a_highlight_opens_none() -> None:
    capture = read(
        "# B\n\n## Metadata\n- Author: [[A]]\n- Full Title: Book\n"
        "- Category: #books\n\n## Highlights\n"
        "- Three rules:\n- one\n"
        "- two ([Location 190](https://readwise.io/to_kindle?action=open&asin=B0&location=190))\n"
        "    - Tags: [[orange]] [[core]] \n- Next. ([Location 201](https://readwise.io/x))\n"
    )
    first, second = wire(capture)["highlights"]
    assert capture.source == "pdf"
    assert first["text"].split("\n")[0] == "Three rules:"
    assert (first["location"], first["color"], first["tags"]) == (190, "orange", ["core"])
    assert second["text"] == "Next."


def test_readwise_full_document_is_the_text() -> None:
    capture = read(
        "# B\n\n![rw-book-cover](https://i.example/c.png)\n\n## Metadata\n- Author: [[A]]\n"
        "- Full Title: Book\n- Category: #articles\n- URL: https://a.example/b\n\n"
        "## Full Document\nThe whole article.\n\n## Highlights\n- whole article "
        "([View Highlight](https://read.readwise.io/read/1))\n"
    )
    assert wire(capture)["body_text"] == "The whole article."


def test_weread_highlights_and_times() -> None:
    capture = read(
        "---\ndoc_type: weread-highlights-reviews\nbookId: '1'\nauthor: 王\n"
        "lastReadDate: 2022-09-09\n---\n# 海\n\n## 高亮划线\n\n### 第一章\n\n- 📌 海很大\n"
        "    - ⏱ 2022-09-08 08:01\n\n- 📌 船很小\n"
    )
    payload = wire(capture)
    assert (capture.source, capture.title, capture.author) == ("pdf", "海", "王")
    assert [(m["text"], m["title"]) for m in payload["highlights"]] == [
        ("海很大", "第一章"),
        ("船很小", "第一章"),
    ]
    assert "⏱" not in json.dumps(payload, ensure_ascii=False)
