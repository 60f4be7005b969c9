"""The contract's table from a note to a capture."""

from __future__ import annotations

import os
import re
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from khiip_indexer.captures import read_capture
from khiip_indexer.fields.ids import derived_id
from khiip_indexer.payloads import embed_text, payload_json, primary_text, segments
from khiip_indexer.types import Capture, Dates, NoteFile, Pointer

from .reading import MTIME, all_text, clip, read, wire

GIT = datetime(2024, 3, 1, tzinfo=UTC)
SHARED = Path(os.environ.get("KHIIP_SHARED", Path(__file__).resolve().parents[3] / "shared"))


def front(lines: str, body: str = "Body.\n", path: str = "Inbox/note.md") -> Capture:
    return read(f"---\n{lines}\n---\n{body}", path)


# Ids ---------------------------------------------------------------------------------------


def test_derived_id_is_a_ulid_of_the_path_alone() -> None:
    one = derived_id("Notes/Pump.md")
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", one)
    assert one == derived_id("Notes/Pump.md") == read("other text", "Notes/Pump.md").derived_id
    assert one != derived_id("Notes/pump.md")
    assert one != derived_id("Notes/Pump.md", salt=1) != derived_id("Notes/Pump.md", salt=2)


def test_derived_id_is_the_same_for_both_spellings_of_an_accent() -> None:
    name = "Café/Crème.md"
    composed, apart = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
    assert composed != apart
    assert derived_id(composed) == derived_id(apart)


@pytest.mark.parametrize("key", ["id", "khiip_id", "ulid", "Khiip ID"])
def test_declared_id_is_kept_as_written(key: str) -> None:
    assert front(f"{key}: 0021757").declared_id == "0021757"


def test_note_without_id_declares_none() -> None:
    assert front("id:\nulid: ~").declared_id is None


# URL and source ----------------------------------------------------------------------------


def test_note_without_url_has_its_obsidian_address() -> None:
    capture = read("x", "Läden & Co/Räume #1.md")
    assert (
        capture.url
        == "obsidian://open?vault=Harbour&file=L%C3%A4den%20%26%20Co%2FR%C3%A4ume%20%231"
    )
    assert capture.host is None
    assert capture.source == "note"


@pytest.mark.parametrize(
    "key", ["url", "source", "source_url", "link", "canonical", "permalink", "Source URL", "URL"]
)
def test_every_url_key_makes_a_web_capture(key: str) -> None:
    capture = front(f"{key}: https://fog.example/a?b=1")
    assert (capture.url, capture.source, capture.host) == (
        "https://fog.example/a?b=1",
        "web",
        "fog.example",
    )


def test_words_and_links_in_source_are_labels_and_no_url() -> None:
    capture = front("source: wikipedia")
    assert capture.source == "note"
    assert capture.url.startswith("obsidian://")
    assert wire(capture)["source_label"] == "wikipedia"
    assert front("url: zotero://select/items/1").url.startswith("obsidian://")
    assert front("url: file:///home/x.html").url.startswith("obsidian://")


def test_first_http_value_wins_over_other_keys_before_it() -> None:
    assert front("url: see below\nlink: https://fog.example/b").url == "https://fog.example/b"


def test_named_source_wins_over_the_host() -> None:
    capture = front("source: Web\nurl: https://www.youtube.com/watch?v=aB3dEfGh1jK")
    assert capture.source == "web"


def test_pdf_of_the_vault_is_a_pdf() -> None:
    assert front('source: "[[Tides.pdf]]"').source == "pdf"


def test_links_in_the_body_make_no_clip() -> None:
    capture = read("See https://x.com/a/status/1 and https://www.reddit.com/r/a/comments/1/b/")
    assert capture.source == "note"


# Title, author, description ----------------------------------------------------------------


def test_title_is_frontmatter_then_first_level_1_heading_then_stem() -> None:
    assert front("title: Deep Work", "# Other\n").title == "Deep Work"
    assert front("title:", "## Two\n\n# *One* more\n").title == "One more"
    capture = front("title: ~", "## Two\n", "A/B/Pump: 3.md")
    assert (capture.title, capture.title_from_stem) == ("Pump: 3", True)
    assert read("# [[Link|Shown]] `code`\n").title == "Shown code"


@pytest.mark.parametrize("written", ["2026-05-26", "12:30", "007", "no"])
def test_titles_that_look_like_other_types_stay_text(written: str) -> None:
    assert front(f"title: {written}").title == written


@pytest.mark.parametrize(
    ("lines", "author"),
    [
        ("author: Ann", "Ann"),
        ('authors: [Ann, "[[Bo Li|Bo]]"]', "Ann, Bo"),
        ('author: "[[@ann_b]]"', "ann_b"),
        ("byline: ann\\_b", "ann_b"),
        ("author: [[Ann]], [[Bo]]", "Ann, Bo"),
        ("channel: Hedge Talk", "Hedge Talk"),
        ("author: unknown", None),
        ("author: []\nby: Cy", "Cy"),
        ("author: '[Ann](https://a.example)'", "Ann"),
        ("author: Comaromi, J.P.", "Comaromi, J.P."),
    ],
)
def test_author_is_cleaned_of_marks(lines: str, author: str | None) -> None:
    assert front(lines).author == author


def test_description_keys_and_plain_text() -> None:
    assert front("summary: '*Slow* [tide](https://t.example)'").description == "Slow tide"
    assert front("description: null\nabstract: A").description == "A"


def test_description_that_is_the_cut_start_is_not_embedded_twice() -> None:
    body = "Three weeks of logging bread temperatures taught me one thing about steam."
    capture = clip("https://a.example/b", body, description="Three weeks of logging bread temp...")
    assert capture.description == "Three weeks of logging bread temp..."
    assert embed_text(capture).count("Three weeks of logging") == 1
    other = clip("https://a.example/b", body, description="What I learned")
    assert "What I learned" in embed_text(other)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("Said first.\n\n# Real title\n\n# Second", "Real title"),
        ("## Before\n\n# Real title\n\n## After", "Real title"),
        ("## Books\n\n# Clippings\n\n# Episodes", "note"),
    ],
)
def test_level_one_headings_behind_lower_ones_are_sections_when_there_are_several(
    body: str, title: str
) -> None:
    assert read(body).title == title


def test_weeks_months_and_quarters_are_no_entities() -> None:
    capture = read("[[2026-01-02]] [[2026-01]] [[2026-W03]] [[2026-Q1]] [[2026]] [[2026-01 Trip]]")
    assert capture.entities == ("2026", "2026-01 Trip")


def test_placeholders_of_a_template_are_nobody_and_nothing() -> None:
    capture = front(
        "author: '{{book.author}}'\npeople: ['[[<% tp.who %>]]', '[[Ada]]']\n"
        "tags: ['{{tags}}', books]",
        "On [[{{date}}]].",
    )
    assert capture.author is None
    assert capture.entities == ("Ada",)
    assert capture.user_tags == ("books",)
    assert [problem.code for problem in capture.problems] == ["template"]


# Dates -------------------------------------------------------------------------------------


def test_recorded_at_takes_the_first_key_that_is_a_date() -> None:
    capture = front("created: Invalid date\ndate: 2025-02-03")
    assert capture.recorded_at == datetime(2025, 2, 3, tzinfo=UTC)
    assert capture.recorded_at_from == "frontmatter"


@pytest.mark.parametrize(
    "key",
    ["recorded_at", "created", "date created", "captured", "clipped", "saved", "added", "date"],
)
def test_every_recorded_key_counts(key: str) -> None:
    assert front(f"{key}: 2025-02-03T04:05:06+02:00").recorded_at == datetime(
        2025, 2, 3, 2, 5, 6, tzinfo=UTC
    )


def test_without_a_written_date_git_then_mtime_is_taken() -> None:
    last = datetime(2025, 5, 5, tzinfo=UTC)
    git = read("x", dates=Dates(MTIME, GIT, last))
    assert (git.recorded_at, git.recorded_at_from, git.modified_at) == (GIT, "git", last)
    plain = read("x")
    assert (plain.recorded_at, plain.recorded_at_from) == (MTIME, "mtime")
    assert plain.modified_at == MTIME


def test_daily_note_is_of_the_day_in_its_name() -> None:
    capture = read("x", "Daily/2026-06-02.md", Dates(MTIME, GIT, GIT))
    assert (capture.recorded_at, capture.recorded_at_from) == (
        datetime(2026, 6, 2, tzinfo=UTC),
        "name",
    )
    assert read("x", "Daily/2026-13-45.md").recorded_at_from == "mtime"


def test_valid_from_is_written_else_recorded_at() -> None:
    assert front("published: 2021\ncreated: 2025-01-01").valid_from.year == 2021
    assert front("created: 2025-01-01").valid_from == datetime(2025, 1, 1, tzinfo=UTC)


def test_modified_at_is_written_where_it_is() -> None:
    assert front("date modified: 2023-03-14").modified_at == datetime(2023, 3, 14, tzinfo=UTC)


# Tags, entities, chains --------------------------------------------------------------------


def test_tags_are_those_of_the_frontmatter_and_of_ones_own_text() -> None:
    capture = front("tags: [Sea, sail/gaff]", "A #sea walk, #x2 and `#code`.\n")
    assert capture.user_tags == ("Sea", "sail/gaff", "x2")


def test_hashtags_in_clipped_text_are_not_the_users() -> None:
    body = "Join us! #ad #spam"
    assert clip("https://a.example/b", body, author="Ann", tags="clippings").user_tags == (
        "clippings",
    )
    assert clip("https://x.com/ann/status/12", body).user_tags == ()


@pytest.mark.parametrize(
    ("line", "tags"),
    [("tags:", ()), ("tags: 2024", ("2024",)), ("tags: alpha, beta", ("alpha", "beta")),
     ("tags: [2024, null, 'x y']", ("2024", "x y"))],
)  # fmt: skip
def test_tags_of_every_form(line: str, tags: tuple[str, ...]) -> None:
    assert front(line).user_tags == tags


def test_entities_are_declared_ones_then_links() -> None:
    capture = front(
        'people: ["[[Ines Falk|Ines]]"]\nproject: Harbour wall\ntopics:\n  - "[[Tides]]"',
        "With [[Boats/Gaff rig#History|rig]], [[ines falk]], ![[pic.png]], [[2026-06-02]].\n",
    )
    assert capture.entities == ("Harbour wall", "Ines Falk", "Tides", "Gaff rig")


def test_superseding_pointers_are_unwrapped() -> None:
    capture = front('superseded_by: "[[New pump|new]]"\nsupersedes: ["[[Old pump]]", old/id.md]')
    assert capture.superseded_by == Pointer("New pump")
    assert capture.supersedes == (Pointer("Old pump"), Pointer("old/id.md"))


# Memory fields -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "layer"),
    [
        ("goal", "goal"), ("Why", "goal"), ("targets", "goal"), ("timing", "context"),
        ("mood", "emotion"), ("failure", "implementation"), ("don't", "caveat"),
        ("Pitfalls", "caveat"), ("decision", "learning"), ("insights", "learning"),
        ("nonsense", None),
    ],
)  # fmt: skip
def test_layer_aliases(word: str, layer: str | None) -> None:
    assert front(f'layer: "{word}"').layer == layer


def test_memory_values_are_taken_only_from_their_lists() -> None:
    capture = front("type: Decision\nstatus: In progress\naltitude: Strategy\nthread: t-1")
    assert (capture.mem_type, capture.mem_state) == ("decision", "in_progress")
    assert (capture.altitude, capture.thread_id) == ("strategy", "t-1")
    linked = front(
        'type: "[[Decision]]"\nstatus: "[[done|✅]]"\nlayer: "[[Warnings]]"\n'
        'thread: "[[Project X#Plan|X]]"\nimportance: "[[high]]"'
    )
    assert (linked.mem_type, linked.mem_state, linked.layer) == ("decision", "done", "caveat")
    assert (linked.thread_id, linked.importance) == ("Project X", 0.8)
    other = front("type: person\nstatus: shiny\naltitude: 300")
    assert (other.mem_type, other.mem_state, other.altitude) == (None, None, None)


@pytest.mark.parametrize(
    ("written", "value"),
    [("low", 0.2), ("Medium", 0.5), ("high", 0.8), ("0.35", 0.35), ("1", 1.0), ("7", None),
     ("-1", None), ("nan", None), ("~", None), ("[]", None), ("{}", None)],
)  # fmt: skip
def test_importance_is_a_share_or_a_word(written: str, value: float | None) -> None:
    assert front(f"importance: {written}").importance == value


def test_flags_are_true_only_where_written_true() -> None:
    capture = front("archived: true\npinned: yes")
    assert (capture.archived, capture.pinned) == (True, True)
    capture = front("archived: someday\npinned:")
    assert (capture.archived, capture.pinned) == (False, False)


# Never lost --------------------------------------------------------------------------------


def test_unreadable_frontmatter_leaves_the_body_and_a_problem() -> None:
    capture = read("---\nkey: `C:\\agent\\run` : x\n---\nThe pump hums.\n", "b.md")
    assert "The pump hums." in all_text(capture)
    assert [problem.line for problem in capture.problems] == [2]


def test_letterhead_is_text_of_a_partial_capture() -> None:
    capture = read(
        "---\n**EXAMPLE LAW OFFICE**\nJane Roe, Esq.\n---\nDemand letter about the pump.\n"
    )
    assert "Demand letter about the pump." in all_text(capture)
    assert (capture.frontmatter_state, capture.extraction_status) == ("malformed", "partial")


def test_template_is_a_plain_note_under_its_own_name() -> None:
    capture = read('---\ntitle: "{{title}}"\nsource: "{{url}}"\n'
    'created: {{date}}\n---\n{{content}}\n',
                   "Templates/Clip.md")  # fmt: skip
    assert (capture.source, capture.title) == ("note", "Clip")
    assert "template" in [problem.code for problem in capture.problems]


def test_null_in_every_typed_key_gives_the_defaults() -> None:
    keys = ["title", "type", "importance", "created", "tags", "layer", "id", "author", "url"]
    for empty in ["", "null", "~", '""', "[]", "{}"]:
        capture = front("\n".join(f"{key}: {empty}" for key in keys))
        assert (capture.title, capture.source, capture.importance) == ("note", "note", None)
        assert (capture.author, capture.declared_id, capture.user_tags) == (None, None, ())


FRONT = st.dictionaries(
    st.sampled_from(
        [
            "title",
            "source",
            "url",
            "tags",
            "created",
            "author",
            "id",
            "layer",
            "kindle-sync",
            "nexus",
            "annotation-target",
            "raindrop_id",
            "permalink",
            "type",
            "handle",
            "fetched",
            "people",
            "kanban-plugin",
            "doc_type",
            "metadata",
            "importance",
            "media",
            "zotero-key",
        ]
    ),
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            [
                "https://x.com/a/status/1",
                "https://www.youtube.com/watch?v=aB3dEfGh1jK",
                "https://en.wikipedia.org/wiki/A",
                "https://www.reddit.com/r/a/comments/b/c/",
                "note",
                "http://[",
                "tool",
                "2026-01-01",
                "[[a]]",
                "[1, {a: b}]",
                "weread-highlights-reviews",
            ]
        ),
    ),
    max_size=6,
)
PIECES = st.sampled_from(
    [
        "# A\n",
        "## Comments\n",
        "## Transcript\n",
        "## Highlights\n",
        "## Metadata\n",
        "> **a** · 1 points\n",
        "> > b\n",
        "---\n",
        "**0:12** · x\n",
        "- t ([View Highlight](https://read.readwise.io/read/1))\n",
        "![rw-book-cover](x)\n",
        "> [!danger]+ Updated on x\n",
        '>```annotation-json\n>{"a":\n>```\n',
        "> [!PDF|y] [[f.pdf#page=3&selection=1|f, p.2]]\n",
        "zotero://open-pdf/x?annotation=A\n",
        "x — location: [5](kindle://book?action=open&x)\n",
        "ls-type:: annotation\n",
        "%%",
        "```\n",
        "[[",
        "]]",
        "**You said**\n",
        "[0:01](https://youtu.be/aB3dEfGh1jK?t=1) hi\n",
        "- [fact] x (y)\n",
        "| a | b |\n",
        "share.snipd.com/snip/\n",
        "omnivore.app/me/\n",
        "[[ReadItLater]] [[Tweet]]\n",
        "\ud83d",
        "\x00",
    ]
)
BODY = st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=25).map("".join)


def usable(capture: Capture) -> None:
    payload_json(capture.payload).encode()
    wire(capture)
    assert isinstance(embed_text(capture), str)
    assert all(part.text.strip() for part in segments(capture))
    text, origin = primary_text(capture)
    assert isinstance(text, str) and origin
    assert capture.title
    assert not [p for p in capture.problems if p.code == "shape"], capture.problems


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_a_capture(raw: bytes) -> None:
    usable(read(raw))


@settings(max_examples=250, deadline=None)
@given(FRONT, BODY)
def test_any_frontmatter_and_any_tool_marks_give_a_capture(keys: dict[str, str], body: str) -> None:
    lines = "\n".join(f"{key}: {value}" for key, value in keys.items())
    usable(read(f"---\n{lines}\n---\n{body}"))
    usable(read(body))


@pytest.mark.parametrize(
    "line",
    [
        "> " * 3000 + "x",
        "**" * 20_000,
        "[" * 5_000,
        "> **a** · " * 5_000,
        " " * 200_000 + "#",
        "- [ ] " * 20_000,
        "# " + " " * 100_000 + "x",
        "#a" * 50_000,
        "0:12 " * 40_000,
        "[[a::b" * 4_000,
    ],
)
def test_hostile_lines_are_read_in_linear_time(line: str) -> None:
    for url in ("https://x.com/a/status/1", "https://www.reddit.com/r/a/comments/b/c/"):
        usable(clip(url, f"## Comments\n\n## Transcript\n{line}\n"))


MARKED = [
    "kindle-sync: x",
    "raindrop_id: 1",
    "zotero-key: A",
    "annotation-target: a.pdf",
    "kanban-plugin: board",
    "excalidraw-plugin: parsed",
    "nexus: n",
    "tags: copilot-conversation",
    "entityType: person",
    "doc_type: hypothesis-highlights",
    "doc_type: weread-highlights-reviews",
    "type: reddit-post",
    "media: https://youtu.be/aB3dEfGh1jK",
    "source: instapaper",
    "x: ![rw-book-cover]",
    "citekey: k",
]
TRIGGERS = "![rw-book-cover](x) omnivore.app/me/ share.snipd.com/snip/ zotero://x annotation=A #t=1"


@pytest.mark.parametrize("key", MARKED)
def test_no_tools_reader_is_slow_on_long_runs(key: str) -> None:
    runs = [char * 30_000 for char in "-— >*[_^#`:=|("]
    lines = [f"- {run} ](kindle:// [0:01](https://hyp.is/x ^hx" for run in runs]
    quotes = [
        f"> {run} [p](https://www.instapaper.com/read/ zotero://a?annotation=" for run in runs
    ]
    body = "\n".join([TRIGGERS, "## Highlights", *lines, "", *quotes, "", *runs])
    started = process_time()
    usable(read(f"---\n{key}\n---\n{body}"))
    assert process_time() - started < 20  # squares of the run's length would take minutes


def test_notes_of_real_vaults_give_captures() -> None:
    vaults = [*SHARED.glob("vaults/*"), *SHARED.glob("collections/*/vault")]
    if not vaults:
        pytest.skip("no public vaults at hand")
    for vault in vaults:
        for note in sorted(vault.rglob("*.md"))[::7]:
            path = note.relative_to(vault).as_posix()
            usable(read_capture(NoteFile(path, note.read_bytes(), Dates(MTIME)), vault.name))
