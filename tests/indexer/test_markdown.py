"""A Markdown body as a reader of Obsidian sees it: its text, its structure, its lines."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer import markdown
from khiip_indexer.markdown import parse_markdown, to_plain
from khiip_indexer.markup.source import clean_source
from khiip_indexer.types import Callout, Heading, Link, Task

DAILY = """## Tasks
- [ ] Call the harbour office 📅 2026-06-03 ⏫ #boat
- [/] Varnish hull [due:: 2026-06-09]

> [!warning]- Tide
> Low at 05:40, see [[Tide tables#June]].

Weather:: clear
Ate [apples:: 2] with (with:: [[Ines Falk]]). %%private%% ^lunch
"""

EXCALIDRAW = """==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==

My own words.

# Excalidraw Data

## Text Elements
Hello world ^abcdefgh

two
lines ^12345678

## Embedded Files
2f1c: [[secret.png]]

%%
## Drawing
```compressed-json
N4IgLgngDgpiBcIYA8DGBDANgSwCYCd0B3EAGhADcZ8BnbAewDsEAmcm
```
%%
"""


def text(source: str) -> str:
    return parse_markdown(source).text


# --- a whole note -----------------------------------------------------------------------------


def test_a_daily_note_gives_text_without_markup() -> None:
    assert text(DAILY) == (
        "Tasks\n\n"
        "Call the harbour office\nVarnish hull\n\n"
        "Tide\n\nLow at 05:40, see Tide tables > June.\n\n"
        "Weather: clear\nAte apples: 2 with Ines Falk."
    )


def test_a_daily_note_gives_its_structure_with_lines_of_the_file() -> None:
    body = parse_markdown(DAILY, first_line=9)
    assert body.headings == (Heading(2, "Tasks", 9),)
    assert body.tasks == (
        Task(False, "Call the harbour office", 10, " ", "2026-06-03", "high"),
        Task(False, "Varnish hull", 11, "/", "2026-06-09", None),
    )
    assert body.callouts == (
        Callout("warning", None, "-", "Tide", "Low at 05:40, see Tide tables > June.", 13),
    )
    assert body.links == (Link("Tide tables", heading="June"), Link("Ines Falk"))
    assert body.tags == ("boat",)
    assert body.block_ids == ("lunch",)
    assert body.fields == {
        "due": ["2026-06-09"],
        "apples": ["2"],
        "with": ["Ines Falk"],
        "Weather": ["clear"],
    }


def test_block_lines_are_lines_of_the_file_whatever_was_taken_out_before() -> None:
    source = "%%\na\nb\n%%\n\n<!-- c\nd -->\n\nfirst\n\n```py\ncode\n```\n\n| a |\n|---|\n| b |\n"
    found = [(block.kind, block.line) for block in parse_markdown(source, 5).blocks]
    assert found == [("paragraph", 13), ("code", 16), ("table", 19)]


def test_windows_and_old_mac_line_ends_count_as_lines() -> None:
    assert parse_markdown("a\r\n\r\n# B\r\rc\r\n").headings == (Heading(1, "B", 3),)


# --- markup -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("**bold** _it_ ~~gone~~ `code`", "bold it gone code"),
        (r"2\. Steam \_did\_ \[Music\]", "2. Steam _did_ [Music]"),
        ("Tom &amp; Ann &lt;3", "Tom & Ann <3"),
        ("[shown](https://a.example) [](https://b.example)x", "shown x"),
        ("<https://a.example/x>", "https://a.example/x"),
        ("https://a.example/a_b_c, (https://b.example/x)", None),
        ("snake_case_name and 2 * 3 * 4", None),
        ("a < b and List<String> for <your key>", None),
        ("H<sub>2</sub>O<br>next<span class='x'>!</span>", "H2O\nnext!"),
        ("one  \ntwo\nthree", "one\ntwo\nthree"),
        ("$a==b$ costs $5 and $6, $x_1 * y_2 * z$", None),
        ("$$\na\n=\nb\n$$", None),
        ("a == b == c, `==no==`", "a == b == c, ==no=="),
        ("3.**重置图标：**在终端中", "3.重置图标：在终端中"),
        ("tele****.org", None),
    ],
)
def test_inline_markup_becomes_what_a_reader_sees(source: str, plain: str | None) -> None:
    assert text(source) == (source if plain is None else plain)


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("[[Note]]", "Note"),
        ("[[Note|alias]]", "alias"),
        ("[[Note#Head|alias]]", "alias"),
        ("[[Note#Head]]", "Note > Head"),
        ("[[#Head]]", "Head"),
        ("[[#^a1b2c3|show annotation]]", "show annotation"),
        ("see [[Note#^id]] now", "see Note now"),
        ("[[x.pdf#page=3]]", "x.pdf"),
        ("a ![[a.png|300]] b", "a b"),
        ("a ![alt text](https://a.example/b.png) b", "a b"),
        ("![[Note]] stays", "Note stays"),
        ("![[film.mp4]]", ""),
        ("| [[a\\|b]] |\n|--|\n| ![[c.png\\|30]] |", "b"),
    ],
)
def test_links_show_their_words_and_embedded_media_show_nothing(
    source: str, plain: str | None
) -> None:
    assert text(source) == plain


def test_links_keep_target_heading_block_and_alias() -> None:
    body = parse_markdown(
        "[[a b#H|x]] ![[n.md]] [[c#^id]] [t](My%20Note.md#Sec) ![cap|200](https://i.example/p.png)"
    )
    assert body.links == (
        Link("a b", "x", "H"),
        Link("n.md", embed=True),
        Link("c", block="id"),
        Link("My Note.md", "t", "Sec"),
        Link("https://i.example/p.png", "cap", embed=True, external=True),
    )
    assert body.urls == ()


def test_urls_are_external_addresses_in_order_once_each() -> None:
    body = parse_markdown(
        "[a](https://a.example/1_2) https://b.example/x?y=a==. <https://c.example>\n"
        '<a href="https://d.example">d</a> [e][ref] https://b.example/x?y=a== zotero://select/1\n\n'
        "[ref]: https://e.example 'title'\n"
    )
    assert body.urls == (
        "https://a.example/1_2",
        "https://b.example/x?y=a==",
        "https://c.example",
        "https://d.example",
        "https://e.example",
    )
    assert body.text.endswith("d e https://b.example/x?y=a== zotero://select/1")


def test_a_speakers_name_in_brackets_is_no_link_definition() -> None:
    assert text("[Ann]: yes\n[Bo]: no") == "[Ann]: yes\n[Bo]: no"


def test_highlights_are_unmarked_and_collected_but_not_in_code_or_maths() -> None:
    body = parse_markdown("==Count **ten** strokes==, `==no==` $a==b==c$, ==open")
    assert body.highlights == ("Count ten strokes",)
    assert body.text == "Count ten strokes, ==no== $a==b==c$, ==open"


def test_footnotes_are_text_at_the_end_and_their_marks_are_gone() -> None:
    body = parse_markdown(
        "Feel the burr.[^1] And [^n].\n\n"
        "[^1]: Phone level.\n[^n]: Two\n    lines\n\nAfter^[see [[X]]]."
    )
    assert body.text == "Feel the burr. And.\n\nAfter.\n\nPhone level.\n\nTwo\nlines\n\nsee X"
    assert body.footnotes == {"1": "Phone level.", "n": "Two\nlines", "^1": "see X"}
    assert Link("X") in body.links


def test_a_one_word_footnote_is_not_taken_for_a_link_definition() -> None:
    assert parse_markdown("a[^x]\n\n[^x]: word").footnotes == {"x": "word"}


def test_brackets_with_a_caret_that_are_no_footnote_stay() -> None:
    assert text("the class [^abc] negates") == "the class [^abc] negates"


def test_ordered_lists_keep_their_numbers_and_bullets_go() -> None:
    assert text("3. three\n4. four\n   - sub\n\n     more") == "3. three\n4. four\nsub\n\nmore"


def test_quotations_carry_their_depth() -> None:
    blocks = parse_markdown("> a\n>\n> > b\n").blocks
    assert [(block.kind, block.text, block.level) for block in blocks] == [
        ("quote", "a", 1),
        ("quote", "b", 2),
    ]


def test_tables_are_rows_of_cells() -> None:
    assert text("| a | b |\n|---|---|\n| *x* | `y` |\n") == "a | b\nx | y"


def test_html_blocks_lose_tags_scripts_and_styles_and_keep_words() -> None:
    source = "<div>\n<style>p {}</style>\n<p>one</p><p>two</p>\n<script>var x;</script>\n</div>"
    assert text(source) == "one\ntwo"


def test_a_callout_has_type_meta_fold_title_and_nested_text() -> None:
    body = parse_markdown("> [!pdf|yellow]+ [[f.pdf#page=3|f, p.3]]\n> > [!note]\n> > in\n> out\n")
    outer, inner = body.callouts
    assert (outer.kind, outer.meta, outer.fold, outer.title) == ("pdf", "yellow", "+", "f, p.3")
    assert outer.text == "in\nout"
    assert (inner.kind, inner.title, inner.line) == ("note", "", 2)


# --- what must not be read --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("a %%no%% b", "a b"),
        ("a %%no\n\nmore%% b", "a\n\nb"),
        ("%%\nno\n\n- no\n%%\nyes", "yes"),
        ("a <!-- no --> b <!-- no\nno -->c", "a b\nc"),
        ("a <% tp.date.now() %> b", "a b"),
        ("`= this.file.name` and `$= dv.pages()` x", "and x"),
        ("x\n```dataview\nLIST\n```\n```tasks\nnot done\n```\ny", "x\n\ny"),
        ("```base\nviews:\n```", ""),
        ("word ^abc-1", "word"),
        ("| a |\n|---|\n| b |\n\n^tbl", "a\nb"),
        ("> %%\n> ```annotation-json\n> {}\n> ```\n> %%\n> said", "said"),
        ("%% kanban:settings\n```\n{}\n```\n%%", ""),
        ("![x](data:image/png;base64," + "A" * 500 + ") end", "end"),
        ("- id:: 64a1f2b3-1111-2222-3333-444455556666\n- collapsed:: true\n- x", "x"),
    ],
)
def test_comments_queries_commands_and_machine_data_are_taken_out(
    source: str, plain: str | None
) -> None:
    assert text(source) == plain


@pytest.mark.parametrize(
    "source",
    [
        "I am 100%% sure of it",
        "I am 100%% sure\n\nof 50%% of it",
        "an open %% comment keeps its words",
        "an open <% command stays",
    ],
)
def test_text_that_only_looks_like_a_comment_is_kept(source: str) -> None:
    assert text(source) == source


def test_an_html_comment_that_never_ends_does_not_swallow_the_note() -> None:
    assert text("a\n\n<!-- open\n\nb") == "a\n\nopen\n\nb"


@pytest.mark.parametrize(
    "code",
    ["```\n%%keep%% <!-- x --> <% y %>\n```", "    %%keep%% <!-- x --> <% y %>"],
)
def test_comments_in_code_blocks_stay(code: str) -> None:
    assert text(f"a\n\n{code}") == "a\n\n%%keep%% <!-- x --> <% y %>"


def test_comments_in_inline_code_stay() -> None:
    assert text("`%%` and `<!-- x -->` and `` ` %% ``") == "%% and <!-- x --> and ` %%"


def test_a_comment_does_not_end_inside_a_code_fence() -> None:
    assert text("%% open\n\n```\nprint('%%')\n```\nyes") == "%% open\n\nprint('%%')\n\nyes"


def test_a_data_uri_becomes_a_short_marker() -> None:
    assert text("see data:image/png;base64," + "A" * 500 + " there") == "see data:image/png there"


def test_of_a_drawing_only_its_texts_and_the_users_own_words_remain() -> None:
    body = parse_markdown(EXCALIDRAW)
    assert body.text == "My own words.\n\nHello world\n\ntwo\nlines"
    assert body.headings == ()


def test_an_old_drawing_of_plain_json_is_left_out() -> None:
    source = '# Text Elements\nwords ^abcd1234\n\n# Drawing\n```json\n{"type":"excalidraw"}\n```\n'
    assert text(source) == "words"


def test_code_is_findable_and_keeps_its_info_string() -> None:
    (block,) = parse_markdown("```timestamp-url x\n 07:51\n```").blocks
    assert (block.kind, block.text, block.info, block.line) == (
        "code",
        " 07:51",
        "timestamp-url x",
        2,
    )


# --- tags, fields, tasks ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "tags"),
    [
        ("#a/b and #日本 then #🎉x #B #b", ("a/b", "日本", "🎉x", "B")),
        ("#123 C# x#y https://a.example/#frag [t](#anchor) [[N#head]]", ()),
        ("# Heading\n#fff #a1b2c3 #aabbcc #facade #bad", ("facade", "bad")),
        ("(#paren), #end. #sea。后", ("paren", "end", "sea")),
        ("`#code` \\#escaped $#m$ [#kites](https://a.example)\n```\n#no\n```", ()),
        ("## Title #in-heading", ("in-heading",)),
    ],
)
def test_tags_are_tags_and_not_what_looks_like_them(source: str, tags: tuple[str, ...]) -> None:
    assert parse_markdown(source).tags == tags


@pytest.mark.parametrize(
    ("source", "fields"),
    [
        ("a:: 1\na:: 2", {"a": ["1", "2"]}),
        ("- **Key**:: [[Val|v]]", {"Key": ["v"]}),
        ("作者::张三", {"作者": ["张三"]}),
        ("x [n::2] (m:: y)", {"n": ["2"], "m": ["y"]}),
        ("std::vector<int> and (std::move) are C++", {}),
        ("[[rel::Target]] [[a:: b]] `k:: v`", {}),
        ("id:: 64a1\ncollapsed:: true", {}),
        ("a ::: b\nkey::", {}),
    ],
)
def test_inline_fields_are_read_and_code_is_not(source: str, fields: dict[str, list[str]]) -> None:
    assert parse_markdown(source).fields == fields


@pytest.mark.parametrize(
    ("line", "task"),
    [
        ("- [x] Buy rope ✅ 2026-01-02", Task(True, "Buy rope", 1, "x")),
        ("* [X] a", Task(True, "a", 1, "X")),
        ("1. [-] gone ❌ 2026-01-02 🔺", Task(False, "gone", 1, "-", None, "highest")),
        ("- [>] a 🔁 every week 📅 2026-01-02 #x #y", Task(False, "a", 1, ">", "2026-01-02")),
        (
            "- [ ] b [priority:: low] 🆔 ab1 ⛔ cd2,ef3 ^id",
            Task(False, "b", 1, " ", None, "low"),
        ),
        ("> - [?] [[card]]", Task(False, "card", 1, "?")),
        ("- [ ] call #ann about 🛫 2026-01-01 it", Task(False, "call #ann about it", 1)),
    ],
)
def test_a_task_has_status_due_priority_and_bare_words(line: str, task: Task) -> None:
    assert parse_markdown(line).tasks == (task,)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("- [ ] Call the office 📅 2026-06-03 ⏫ #boat", "Call the office"),
        ("- [x] #task Buy rope ✅ 2026-06-01 [cost:: 5]", "Buy rope cost: 5"),
        ("- [ ] Ask #ann about the boat #now #soon", "Ask #ann about the boat"),
        ("- [ ] Fix #12", "Fix #12"),
        ("- [ ] #boat 📅 2026-06-03", "#boat"),
        ("- [ ] Keep `📅 2026-06-03` as code", "Keep 📅 2026-06-03 as code"),
        ("- [ ] Two lines 🛫 2026-06-03\n  go on here", "Two lines\ngo on here"),
    ],
)
def test_a_task_reads_as_a_sentence_in_the_text(line: str, shown: str) -> None:
    body = parse_markdown(line)
    assert body.text == shown
    assert body.tasks[0].text == " ".join(shown.split())


def test_marks_in_the_text_around_tasks_stay() -> None:
    assert text("Due signs look like 📅 2026-06-03.") == "Due signs look like 📅 2026-06-03."


def test_a_command_inside_a_link_takes_the_link_with_it() -> None:
    assert text("Yesterday: [[<% tp.date.yesterday() %>]] and ![[<% tp.x %>]]more") == (
        "Yesterday: and more"
    )
    assert text("Type [[]] to link, [[<% a %> b]].") == "Type [[]] to link, b."


def test_a_bracket_that_is_no_checkbox_makes_no_task() -> None:
    body = parse_markdown("- [fact] Channel 12\n- [x](https://a.example)\n- [text] b")
    assert body.tasks == ()
    assert body.text == "[fact] Channel 12\nx\n[text] b"


# --- short texts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("C# and F#", "C# and F#"),
        ("1. May", "1. May"),
        ("# 7: a * b", "# 7: a * b"),
        ("**bold** [x](https://y.example) [[N|n]]", "bold x n"),
        ("two\nlines", "two\nlines"),
        ("two\n- *items*", "two\n\nitems"),
        ("", ""),
    ],
)
def test_a_short_text_loses_its_markup_and_nothing_else(source: str, plain: str | None) -> None:
    assert to_plain(source) == plain


# --- hard input -------------------------------------------------------------------------------

CHARACTERS = "\n\n\n  >-*_`~[]()!#$%^&=:;<|\\/0aB漢😀\t\r\x00\ud800"
MARKS = (
    "[[ ]] %% <!-- --> <% %> ``` ~~~ $$ == ^[ [^a]: [k:: v] :: http:// <br> </td> &amp; ** "
    "data:a/b, #tag 📅 <a <script>"
)
LINES = ["\n- [ ] ", "\n1. ", "\n> [!n]", "\n# ", "|-|-|\n", "\n    ", "\n===\n", "[x]: /y\n"]
DRAWINGS = ["# Drawing\n", "# Text Elements\n"]
pieces = st.sampled_from([*CHARACTERS, *MARKS.split(), *LINES, *DRAWINGS])


@given(st.one_of(st.text(max_size=200), st.lists(pieces, max_size=40).map("".join)))
def test_any_text_is_parsed_and_keeps_its_lines(source: str) -> None:
    body = parse_markdown(source)
    to_plain(source)
    lines = source.replace("\r\n", "\n").replace("\r", "\n").count("\n")
    assert clean_source(source).count("\n") == lines
    assert not body.fallback
    assert all(1 <= block.line <= lines + 1 for block in body.blocks)


@given(st.lists(st.text(alphabet="abcdef ghij", min_size=1, max_size=30), max_size=8))
def test_plain_prose_comes_back_word_for_word(paragraphs: list[str]) -> None:
    assert text("\n\n".join(paragraphs)).split() == " ".join(paragraphs).split()


@pytest.mark.parametrize(
    "source",
    [
        ">" * 10_000 + " deep words",
        "- " * 5_000 + "deep words",
        "".join("  " * depth + "- x\n" for depth in range(300)) + "  " * 300 + "- deep words",
        "[" * 10_000 + "deep words",
    ],
    ids=["quotes", "lists on a line", "indented lists", "brackets"],
)
def test_absurd_nesting_loses_no_words(source: str) -> None:
    assert "deep words" in text(source)


def test_nesting_that_the_parser_will_not_follow_is_read_by_line_rules_and_says_so() -> None:
    source = "".join("  " * depth + f"- item{depth} [[L{depth}]]\n" for depth in range(300))
    body = parse_markdown("# Head\n\n" + source)
    assert body.fallback
    assert body.headings == (Heading(1, "Head", 1),)
    assert "item299 L299" in body.text
    assert len(body.links) == 300


def test_a_parser_that_fails_leaves_the_text_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object) -> None:
        raise RecursionError

    monkeypatch.setattr(markdown, "_parse", fail)
    body = parse_markdown("# A\n\n> **b** [c](https://d.example) [[E|e]] #tag\n\n```\ncode\n```", 3)
    assert body.fallback
    assert body.text == "A\n\nb c e #tag\n\ncode"
    assert [block.line for block in body.blocks] == [3, 5, 8]
    assert (body.tags, body.urls) == (("tag",), ("https://d.example",))


def cost_of(text: str) -> float:
    """Processor seconds of this thread for parsing a text.

    Other threads of the test run are not ours to count, nor is a walk over the whole heap of the
    test process, which the collector may begin at any allocation.
    """
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        parse_markdown(text)
        return time.thread_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "unit",
    [
        "[[a",
        "%%a ",
        "<!--",
        "^[",
        "$a ",
        "==a ",
        "[a](b ",
        "**a",
        "`a",
        "[a::",
        "<a ",
        "#a ",
        "&#x",
    ],
)
def test_repeated_openings_take_linear_time(unit: str) -> None:
    def cost(times: int) -> float:
        return cost_of(unit * times)

    cost(10)
    # Quadratic work would be 64 times as much for 8 times the text.
    assert cost(16_000) < 30 * cost(2_000) + 0.2


def test_the_notes_of_real_vaults_keep_no_comment_and_need_no_fallback() -> None:
    shared = Path(os.environ.get("KHIIP_SHARED", Path(__file__).parents[2] / "../shared"))
    notes = sorted((shared / "vaults" / "kepano").rglob("*.md"))
    if not notes:
        pytest.skip("the shared vaults are not here")
    for note in notes:
        body = parse_markdown(note.read_text(encoding="utf-8", errors="replace"))
        assert not body.fallback
        assert "<!--" not in body.text


@pytest.mark.parametrize("unit", ["#a ", "📅 ", "  ", "[due:: ", "#a#"])
def test_a_giant_task_takes_linear_time(unit: str) -> None:
    def cost(times: int) -> float:
        return cost_of("- [ ] x " + unit * times + "y " + unit * times)

    cost(10)
    # Quadratic work would be 64 times as much for 8 times the text.
    assert cost(16_000) < 30 * cost(2_000) + 0.2
