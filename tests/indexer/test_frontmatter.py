"""Frontmatter as people and tools really write it: nothing raises, nothing is lost."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from khiip_indexer.fields.metadata import Meta
from khiip_indexer.fields.recovery import cut_entries
from khiip_indexer.fields.yaml_text import YamlError, load_yaml
from khiip_indexer.frontmatter import read_frontmatter
from khiip_indexer.types import Frontmatter, Value


def read(text: str) -> Frontmatter:
    return read_frontmatter(text.encode("utf-8"), "b.md")


def block(*lines: str, body: str = "Body\n") -> Frontmatter:
    return read("\n".join(("---", *lines, "---", body)))


def value(line: str) -> Value:
    """What one line `key: …` gives, next to a sound key that must survive it."""
    found = block(line, "sound: yes")
    assert found.state == "present"
    assert found.metadata["sound"] == "yes"
    return next(iter(found.metadata.values()))


def codes(found: Frontmatter) -> list[str]:
    return [problem.code for problem in found.problems]


class TestWhereFrontmatterIs:
    def test_a_simple_block_is_split_from_the_body(self) -> None:
        found = read("---\ntitle: Pump\n---\nBody\n")
        assert (found.state, found.metadata, found.body) == ("present", {"title": "Pump"}, "Body\n")
        assert (found.body_line, found.raw, found.problems) == (4, "title: Pump", ())

    def test_a_note_without_a_fence_is_all_body(self) -> None:
        found = read("# Head\n\n---\n\ntext\n---\n")
        assert (found.state, found.body_line) == ("absent", 1)
        assert found.body == "# Head\n\n---\n\ntext\n---\n"

    @pytest.mark.parametrize("text", ["", "---", "---\n", "\n\n", "--- \n", "----\na: b\n----\n"])
    def test_too_little_for_a_block_is_absent(self, text: str) -> None:
        assert read(text).state == "absent"

    @pytest.mark.parametrize(
        "text", ["---\n---\nB", "---\n\n---\nB", "---\n# only a comment\n---\nB"]
    )
    def test_an_empty_block_is_present_and_says_nothing(self, text: str) -> None:
        found = read(text)
        assert (found.state, found.metadata, found.body) == ("present", {}, "B")

    def test_a_letterhead_between_two_rules_is_text(self) -> None:
        text = "---\n**EXAMPLE LAW OFFICE**\nJane Roe, Esq.\n---\nDemand letter about the pump.\n"
        found = read(text)
        assert (found.state, found.metadata, found.body) == ("malformed", {}, text)
        assert found.body_line == 1
        assert codes(found) == ["frontmatter_malformed"]

    def test_a_letterhead_with_a_telephone_line_is_text(self) -> None:
        found = block("**EXAMPLE LAW OFFICE**", "Jane Roe, Esq.", "Tel: 555 1234")
        assert found.state == "malformed"
        assert "Tel: 555 1234" in found.body

    def test_a_block_that_never_closes_is_absent_and_stays_text(self) -> None:
        found = read("---\ntitle: Pump\n\nBody")
        assert (found.state, found.body) == ("absent", "---\ntitle: Pump\n\nBody")
        assert codes(found) == ["frontmatter_unclosed"]

    def test_a_rule_as_first_line_is_no_problem(self) -> None:
        found = read("---\nJust prose under a rule.\n")
        assert (found.state, found.problems) == ("absent", ())

    @pytest.mark.parametrize("content", ["- x", "just text", "[a, b]", '["a"]', "42"])
    def test_a_list_or_a_bare_text_is_malformed(self, content: str) -> None:
        found = block(content)
        assert (found.state, found.metadata) == ("malformed", {})
        assert content in found.body
        assert codes(found) == ["frontmatter_malformed"]
        assert found.problems[0].line == 2

    @pytest.mark.parametrize(
        ("text", "body_line"),
        [
            ("\n\n---\ntitle: P\n---\nB", 6),
            ("---   \ntitle: P\n---\t\nB", 4),
            ("---\n\ntitle: P\n\n---\nB", 6),
            ("---\ntitle: P\n...\nB", 4),
        ],
    )
    def test_blank_lines_and_loose_fences_are_allowed(self, text: str, body_line: int) -> None:
        found = read(text)
        assert (found.metadata, found.body) == ({"title": "P"}, "B")
        assert found.body_line == body_line

    def test_json_between_the_fences_is_metadata(self) -> None:
        found = block('{"title": "P",', '\t"tags": ["a", null], "n": 007e1}')
        assert found.metadata == {"title": "P", "tags": ["a", None], "n": "007e1"}

    def test_a_body_that_starts_with_a_rule_keeps_it(self) -> None:
        found = read("---\ntitle: P\n---\n---\n\n## Comments\n\n---\n")
        assert found.body == "---\n\n## Comments\n\n---\n"
        assert found.problems == ()

    def test_a_second_block_stays_body_and_is_named(self) -> None:
        found = read("---\ntitle: P\n---\n\n---\ntags: [a]\n---\nrest")
        assert found.metadata == {"title": "P"}
        assert "tags: [a]" in found.body
        assert [(p.code, p.line) for p in found.problems] == [("frontmatter_second_block", 5)]

    def test_a_rule_inside_a_quoted_value_does_not_end_the_block(self) -> None:
        found = block('description: "one', "Links: https://x.example", "---", 'more"', "author: Bo")
        assert found.metadata["author"] == "Bo"
        assert found.metadata["description"] == "one Links: https://x.example --- more"
        assert (found.body, found.body_line) == ("Body\n", 8)
        assert found.raw.splitlines()[2] == "---"
        assert found.problems == ()

    def test_a_rule_inside_a_quoted_value_next_to_broken_lines(self) -> None:
        found = block(r'description: "one \d', "---", 'more"', "author: me: you")
        assert found.metadata == {"description": r"one \d --- more", "author": "me: you"}
        assert found.body == "Body\n"

    def test_a_quote_that_never_closes_does_not_swallow_the_body(self) -> None:
        found = read('---\ntitle: "open\nauthor: Bo\n---\nBody\n\n---\n\nmore')
        assert found.metadata == {"title": "open", "author": "Bo"}
        assert found.body == "Body\n\n---\n\nmore"


class TestBytes:
    def test_a_byte_order_mark_does_not_hide_the_block(self) -> None:
        plain = b"---\ntitle: Pump\ntags: [a]\n---\nBody\n"
        expected = read_frontmatter(plain, "a.md")
        assert expected.metadata == {"title": "Pump", "tags": ["a"]}
        for raw in (
            b"\xef\xbb\xbf" + plain,
            b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"),
            plain.replace(b"\n", b"\r"),
            plain.decode().encode("utf-16"),
            b"\xfe\xff" + plain.decode().encode("utf-16-be"),
        ):
            assert read_frontmatter(raw, "a.md") == expected

    def test_bytes_that_are_no_utf8_cost_only_themselves(self) -> None:
        found = read_frontmatter(b"---\r\ntitle: Pump\r\nby: caf\xe9\r\n---\r\nBody", "a.md")
        assert found.metadata == {"title": "Pump", "by": "caf\ufffd"}
        assert [(p.code, p.line) for p in found.problems] == [("invalid_utf8", 3)]

    def test_nul_becomes_a_space(self) -> None:
        assert read_frontmatter(b"abc\0def ghi", "a.md").body == "abc def ghi"
        assert block("title: a\0b").metadata == {"title": "a b"}

    def test_a_control_character_does_not_cost_the_metadata(self) -> None:
        assert block("title: a\x08b", "x: y").metadata == {"title": "a b", "x": "y"}

    def test_half_an_emoji_can_always_be_encoded_again(self) -> None:
        found = read_frontmatter(b"---\ntitle: a\xed\xa0\xbd\n---\n\xf0\x9f", "a.md")
        assert json.dumps(found.metadata).encode("utf-8")
        assert found.body.encode("utf-8")


class TestScalars:
    @pytest.mark.parametrize(
        "written",
        [
            "2026-05-26",
            "12:30",
            "007",
            "no",
            "yes",
            "true",
            "1984",
            "0o17",
            "1e3",
            "2026-13-45",
            ".inf",
            "0x1F",
            "1_000",
            "2020-08-21T10:30:00",
            "0021757",
            "Off",
            "=",
            "<<",
        ],
    )
    def test_a_scalar_stays_the_text_that_was_written(self, written: str) -> None:
        assert block(f"title: {written}").metadata == {"title": written}
        assert block(f"title: [{written}]").metadata == {"title": [written]}

    @pytest.mark.parametrize("written", ["", " ", "~", "null", "Null", "NULL"])
    def test_null_is_none(self, written: str) -> None:
        assert block(f"title:{written and ' ' + written}").metadata == {"title": None}

    def test_quoted_null_is_text(self) -> None:
        assert block('a: "null"', "b: '~'", 'c: ""').metadata == {"a": "null", "b": "~", "c": ""}

    def test_keys_stay_as_written_and_in_order(self) -> None:
        found = block("Date Created: x", "null: a", "2024: b", "og:title: c", "no: d")
        assert list(found.metadata) == ["Date Created", "null", "2024", "og:title", "no"]

    def test_an_unquoted_wikilink_is_text(self) -> None:
        assert value("author: [[Ann]]") == "[[Ann]]"
        assert value("author: [[Lovelace, Ada|Ada]]") == "[[Lovelace, Ada|Ada]]"
        assert value("author: [[Note: a sub title]]") == "[[Note: a sub title]]"
        assert value("people: [[[Ann]], [[Bo]]]") == ["[[Ann]]", "[[Bo]]"]
        assert value("people: [[[Ann]]]") == ["[[Ann]]"]
        assert block("people:", "  - [[Ann]]", "  - [[Bo|B]]").metadata == {
            "people": ["[[Ann]]", "[[Bo|B]]"]
        }

    def test_a_list_in_a_list_that_is_no_link_stays_one(self) -> None:
        assert value("grid: [[1, 2], [3]]") == [["1", "2"], ["3"]]

    def test_tags_and_anchors_that_are_meant_as_text_stay(self) -> None:
        assert value("title: !important news") == "!important news"
        assert value("title: &Sons and co") == "&Sons and co"
        assert value("title: !!str 2024") == "2024"

    def test_an_alias_repeats_what_it_points_to(self) -> None:
        found = block("a: &x [1, 2]", "b: [*x, *x]")
        assert found.metadata == {"a": ["1", "2"], "b": [["1", "2"], ["1", "2"]]}


class TestBrokenLines:
    """Each line is an error for the parser; it costs only itself, and not even that."""

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("title: Deep Work: Rules", "Deep Work: Rules"),
            ("author: @someone", "@someone"),
            ("title: *Nature* paper", "*Nature* paper"),
            ("title: *Nature", "*Nature"),
            ("citekey: @roe2024", "@roe2024"),
            ("Status: Rate:: 5", "Rate:: 5"),
            ("title: `code` first", "`code` first"),
            ("title: %percent", "%percent"),
            ("title: !a: b", "!a: b"),
            ("title:\tTab: colon", "Tab: colon"),
            ("title: {{date}} at {{time}}", "{{date}} at {{time}}"),
            ("author: [[Ann]], [[Bo|B]]", ["[[Ann]]", "[[Bo|B]]"]),
            ("author: [[Ann]] and Bo", "[[Ann]] and Bo"),
            ("tags: [a, b: c: d, @d, 'e f']", ["a", "b: c: d", "@d", "e f"]),
            (r'path: "C:\new \d"', r"C:\new \d"),
            (r'path: "ends in \"', "ends in \\"),
            (r'path: "a \"burr\" in C:\x"', r'a "burr" in C:\x'),
            ('title: "Rules" of work', '"Rules" of work'),
            ("title: > not a block: x", "> not a block: x"),
            ("title:Pump", "Pump"),
            ("key: `C:\\agent\\run` : x", "`C:\\agent\\run` : x"),
            ("title: ] bracket", "] bracket"),
            ("title: - a: b: c", "- a: b: c"),
        ],
    )
    def test_a_broken_value_is_taken_literally(self, line: str, expected: Value) -> None:
        assert value(line) == expected

    def test_the_problem_names_the_line_in_the_file_and_the_parsers_reason(self) -> None:
        found = read("\n---\nok: 1\nkey: `C:\\agent\\run` : x\n---\nbody text\n")
        assert found.body == "body text\n"
        (problem,) = found.problems
        assert (problem.path, problem.line, problem.code) == ("b.md", 4, "frontmatter_invalid")
        assert "cannot start any token" in problem.reason
        assert "\n" not in problem.reason

    def test_many_broken_lines_are_one_problem(self) -> None:
        found = block("a: b: c", "fine: 1", "d: @e", "f: `g`")
        assert found.metadata == {"a": "b: c", "fine": "1", "d": "@e", "f": "`g`"}
        assert codes(found) == ["frontmatter_invalid"]
        assert "(and 2 more)" in found.problems[0].reason
        assert found.problems[0].line == 2

    def test_the_line_of_a_broken_list_item_is_named(self) -> None:
        found = block("ok: 1", "people:", "  - Ann", "  - @bo", "  - c: d: e", '  - "Ed"', "z: 2")
        assert found.metadata == {"ok": "1", "people": ["Ann", "@bo", "c: d: e", "Ed"], "z": "2"}
        assert found.problems[0].line == 5

    def test_a_list_with_stars_for_bullets_is_a_list(self) -> None:
        assert block("name: a", "aliases:", "  * bar").metadata == {"name": "a", "aliases": ["bar"]}

    def test_a_broken_nested_mapping_keeps_its_other_keys(self) -> None:
        found = block("meta:", "  a: b: c", "  d: e", "title: T")
        assert found.metadata == {"meta": {"a": "b: c", "d": "e"}, "title": "T"}

    def test_a_sound_block_text_next_to_a_broken_line_is_kept(self) -> None:
        found = block("text: |", "  one", "", "  two", "x: y: z")
        assert found.metadata == {"text": "one\n\ntwo\n", "x": "y: z"}

    def test_an_unindented_second_line_of_a_value_is_not_lost(self) -> None:
        found = block("title: a: b", "and more", "author: Bo")
        assert found.metadata == {"title": "a: b and more", "author": "Bo"}

    def test_a_quoted_value_over_lines_with_a_bad_escape_is_folded(self) -> None:
        found = block(r'text: "one \d', "", 'two \\"x\\""', "z: 1")
        assert found.metadata == {"text": 'one \\d\ntwo "x"', "z": "1"}

    def test_of_a_key_written_twice_the_first_value_counts_and_it_is_said(self) -> None:
        found = block("a: 1", "b:", "a: 2", "b: 3")
        assert found.metadata == {"a": "1", "b": "3"}
        assert [(p.code, p.line) for p in found.problems] == [("frontmatter_repeated_key", 4)]


class TestTemplates:
    def test_placeholders_stay_text_and_the_note_is_named_once(self) -> None:
        found = block("created: {{date}}", "t: <% tp.file.title %>", "x: {{date}} {{time}}", "y: 1")
        assert found.metadata == {
            "created": "{{date}}",
            "t": "<% tp.file.title %>",
            "x": "{{date}} {{time}}",
            "y": "1",
        }
        assert [(p.code, p.line) for p in found.problems] == [("template", 2)]

    def test_a_real_fault_in_a_template_is_named_too(self) -> None:
        assert codes(block("a: {{b}}", "c: d: e")) == ["template", "frontmatter_invalid"]

    def test_lines_of_template_code_do_not_make_a_letterhead(self) -> None:
        found = block("<%* const x = 1 %>", "<%* more() %>", "title: P")
        assert found.metadata["title"] == "P"


class TestValuesEatenByHash:
    @pytest.mark.parametrize(
        ("lines", "line", "key"),
        [
            (["tags: #foo"], 2, "tags"),
            (["tags: #a #b"], 2, "tags"),
            (["x: 1", "aliases: #1 song"], 3, "aliases"),
            (["tags:", "  - a", "  - #b"], 4, "tags"),
        ],
    )
    def test_a_hash_that_starts_a_value_is_named(
        self, lines: list[str], line: int, key: str
    ) -> None:
        found = block(*lines)
        assert [p.reason for p in found.problems] == [f"{key} value starts with '#': quote it"]
        assert found.problems[0].line == line

    def test_a_comment_behind_a_key_is_no_problem(self) -> None:
        assert block("tags: # one of a, b", "x: y #z", "color: '#fff'").problems == ()


class TestHostileInput:
    def test_aliases_of_aliases_do_not_fill_the_memory(self) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
        found = block(*lines, "title: T")
        assert found.metadata["title"] == "T"
        assert len(json.dumps(found.metadata)) < 1_000_000

    def test_an_alias_of_itself_ends(self) -> None:
        found = block("a: &a [*a]", "title: T")
        assert found.metadata["title"] == "T"
        assert json.dumps(found.metadata)

    @pytest.mark.parametrize("opening", ["[", "{", "- ", "[{a: "])
    def test_deep_nesting_costs_only_its_value(self, opening: str) -> None:
        found = block(f"title: T\nx:\n  {opening * 5000}", "z: 1")
        assert found.metadata["title"] == "T"
        assert found.metadata["z"] == "1"
        assert json.dumps(found.metadata)
        assert codes(found) == ["frontmatter_invalid"]

    def test_nesting_that_the_parser_allows_is_still_bounded(self) -> None:
        with pytest.raises(YamlError, match="nested deeper"):
            load_yaml("[" * 500 + "]" * 500)

    def test_a_book_between_two_rules_is_not_parsed(self) -> None:
        found = read("---\n" + "key: value\n" * 120_000 + "---\nBody")
        assert found.state == "malformed"
        assert found.body.endswith("Body")

    @pytest.mark.parametrize(
        "text",
        [
            "---\n" + 'a: "x\n' * 100_000 + "---\n" * 10,
            "---\n" + "tags: #x\n" * 80_000 + "---\n",
            "---\n" + "".join(f"k{i}: &a{i} x\n" for i in range(30_000)) + "---\n",
            "---\n" + "".join(f"k{i}: v: w\n" for i in range(60_000)) + "---\n",
            "---\na: " + "[[a]], " * 100_000 + "\n---\n",
            " \n" * 1_000_000 + "x",
            "---" + " " * 2_000_000 + "x",
            "---\na" + " " * 900_000 + "\n---\n",
        ],
        ids=["quotes", "hashes", "anchors", "broken", "links", "blank", "fence", "spaces"],
    )
    def test_long_input_takes_linear_time(self, text: str) -> None:
        # Quadratic behaviour would take minutes here; processor time does not depend on the
        # load of the machine as the clock on the wall does.
        raw, start = text.encode(), time.process_time()
        read_frontmatter(raw, "big.md")
        assert time.process_time() - start < 10

    @given(st.binary(max_size=300))
    @example(b"---\n\xff\xfe---\n")
    def test_no_bytes_raise(self, raw: bytes) -> None:
        check_anything(read_frontmatter(raw, "x.md"))

    @given(st.text(max_size=200), st.text(max_size=100))
    def test_no_text_between_fences_raises(self, inner: str, body: str) -> None:
        text = f"---\n{inner}\n---\n{body}"
        check_anything(read_frontmatter(text.encode("utf-8", errors="surrogatepass"), "x.md"))

    @given(st.lists(st.text(alphabet="ab:-#'\"[]{}&*!|>%@`~ \t\n\\?,.<%", max_size=30), max_size=8))
    def test_no_yaml_punctuation_raises(self, lines: list[str]) -> None:
        found = block("title: T", *lines)
        check_anything(found)
        cut_entries("\n".join(lines))

    @given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"]), max_size=60))
    def test_a_sound_key_survives_any_value_beside_it(self, noise: str) -> None:
        found = block(f"noise: x{noise}", "title: T")
        assert found.state == "present"
        assert found.metadata["title"] == "T"


def check_anything(found: Frontmatter) -> None:
    json.dumps(found.metadata).encode("utf-8")
    found.body.encode("utf-8")
    assert "\r" not in found.body
    assert "\0" not in found.body
    assert found.body_line >= 1
    assert all(p.line is None or p.line >= 1 for p in found.problems)
    assert all("\n" not in p.reason for p in found.problems)
    assert len(codes(found)) == len(set(codes(found)))
    meta = Meta(found.metadata)
    for key in found.metadata:
        meta.text(key), meta.tags(key), meta.flag(key), meta.number(key)


SHARED = Path(os.environ.get("KHIIP_SHARED", Path(__file__).parents[3] / "shared"))


@pytest.mark.skipif(not (SHARED / "vaults/kepano").is_dir(), reason="no sample vaults here")
def test_the_template_notes_of_a_public_vault_are_all_read() -> None:
    found = [
        read_frontmatter(path.read_bytes(), path.name)
        for path in (SHARED / "vaults/kepano").rglob("*.md")
    ]
    assert len(found) == 103
    assert not [f for f in found if f.state == "malformed"]
    assert sum("template" in codes(f) for f in found) == 28
