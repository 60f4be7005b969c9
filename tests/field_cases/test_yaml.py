"""Frontmatter as people and tools really write it, from the file to the answer."""

from __future__ import annotations

import json

import pytest

from field_cases.conftest import Case, MakeCase
from khiip_indexer.frontmatter import read_frontmatter
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage.queries import stored_files

MALFORMED = "---\nkey: `C:\\agent\\run` : x\n---\nThe body about pumps is there.\n"
LETTERHEAD = """---
**EXAMPLE LAW OFFICE**
Jane Roe, Esq.
---
Demand letter about the pump.
"""


def codes(case: Case, path: str) -> list[str]:
    return [problem["code"] for problem in case.capture(path)["problems"]]


def test_one_malformed_note_does_not_hide_the_notes_after_it(make_case: MakeCase) -> None:
    """B01"""
    case = make_case({"a.md": "alpha", "b.md": MALFORMED, "c.md": "gamma"})
    first = case.run("reindex")
    assert first.exit_code == 3
    lines = first.stderr.splitlines()
    about_b = [line for line in lines if "b.md" in line]
    assert len(about_b) == 1
    assert about_b[0].startswith("b.md:2: ")
    assert "token" in about_b[0] or "mapping" in about_b[0], "the parser's own reason"
    assert lines[-1].startswith("indexed 3 notes, 1 with unreadable frontmatter")
    assert {case.paths(word)[0] for word in ("alpha", "gamma")} == {"a.md", "c.md"}
    assert case.paths("the body about pumps")[0] == "b.md"
    assert case.capture("b.md")["title"] == "b"


def test_a_malformed_note_is_not_tried_again_for_ever_and_blocks_nothing_later(
    make_case: MakeCase,
) -> None:
    """B01"""
    case = make_case({"a.md": "alpha", "b.md": MALFORMED, "c.md": "gamma"})
    case.run("reindex")
    embedded = list(case.embedder.texts)
    again = case.run("reindex")
    assert (again.exit_code, case.embedder.texts) == (3, embedded)
    assert "nothing changed" in again.stderr
    case.write({"c.md": "gamma, then delta"})
    case.run("reindex")
    assert case.paths("delta")[0] == "c.md"


def test_a_malformed_note_is_listed_until_it_is_mended(make_case: MakeCase) -> None:
    """B01"""
    case = make_case({"a.md": "alpha", "b.md": MALFORMED})
    case.run("reindex")
    with case.http() as client:
        assert client.get("/health").json()["index"]["problems"] == 1
    status = case.run("status", "--json")
    assert status.exit_code == 3
    [problem] = json.loads(status.stdout)["problems"]
    assert (problem["path"], problem["line"]) == ("b.md", 2)
    case.write({"b.md": "---\nkey: fine\n---\nmended"})
    assert case.ok("reindex")
    assert case.json("status")["problems"] == []


def test_the_service_and_the_command_line_read_a_malformed_note_alike(
    make_case: MakeCase,
) -> None:
    """B01: one parse function, whoever calls it"""
    case = make_case({"b.md": MALFORMED})
    case.run("reindex")
    by_command = case.capture("b.md")
    with case.http() as client:
        address = f"/api/v1/captures/{by_command['id']}"
        assert client.get(address).json() == by_command
        again = client.post(f"{address}/refetch?dimension=re-extract").json()
    assert again == by_command


def test_a_letterhead_between_two_rules_is_found_by_its_text(make_case: MakeCase) -> None:
    """B02"""
    case = make_case({"Letter.md": LETTERHEAD, "other.md": "nothing to do with it"})
    before = case.files()
    assert case.run("reindex").exit_code == 3
    assert case.paths("Demand letter about the pump")[0] == "Letter.md"
    capture = case.capture("Letter.md")
    assert capture["title"] == "Letter"
    assert capture["user_tags"] == capture["entities"] == []
    assert codes(case, "Letter.md") == ["frontmatter_malformed"]
    front = read_frontmatter(LETTERHEAD.encode(), "Letter.md")
    assert (front.state, front.metadata) == ("malformed", {})
    assert case.files() == before


def test_a_first_rule_that_is_never_closed_hides_nothing(make_case: MakeCase) -> None:
    """B02"""
    text = "---\ntitle: never closed\nDemand letter about the pump.\n"
    case = make_case({"Open.md": text})
    case.run("reindex")
    assert case.paths("Demand letter about the pump") == ["Open.md"]
    assert case.capture("Open.md")["title"] == "Open"
    front = read_frontmatter(text.encode(), "Open.md")
    assert (front.state, front.metadata) == ("absent", {})


@pytest.mark.parametrize("block", ["- x", "just text", "- a\n- b: c", "42"])
def test_a_block_that_is_a_list_or_a_bare_text_is_malformed_and_found(
    make_case: MakeCase, block: str
) -> None:
    """B02"""
    case = make_case({"n.md": f"---\n{block}\n---\nThe pump leaks."})
    assert case.run("reindex").exit_code == 3
    assert codes(case, "n.md") == ["frontmatter_malformed"]
    assert case.paths("pump leaks") == ["n.md"]


@pytest.mark.parametrize("title", ["2026-05-26", "12:30", "007", "no"])
def test_a_title_that_looks_like_a_date_a_number_or_a_yes_stays_as_written(
    make_case: MakeCase, title: str
) -> None:
    """B03"""
    case = make_case({"n.md": f"---\ntitle: {title}\n---\nThe pump."})
    case.ok("reindex")
    with case.http() as client:
        response = client.get("/api/v1/recall?q=pump")
        [hit] = json.loads(response.content, parse_constant=pytest.fail)["results"]
    assert hit["capture"]["title"] == title
    assert hit["capture"]["payload"]["title"] == title


def test_fields_with_a_type_are_still_read_as_that_type(make_case: MakeCase) -> None:
    """B03"""
    note = "---\ntitle: 007\ncreated: 2026-05-26\nimportance: 0.7\narchived: no\n---\nThe pump."
    case = make_case({"n.md": note})
    case.ok("reindex")
    capture = case.capture("n.md")
    assert capture["recorded_at"].startswith("2026-05-26")
    assert (capture["importance"], capture["archived"]) == (0.7, False)


BOM = b"\xef\xbb\xbf---\ntitle: Pump\ntags: [a]\n---\nBody\n"


def test_a_byte_order_mark_does_not_hide_the_frontmatter(make_case: MakeCase) -> None:
    """B05"""
    case = make_case({"lf.md": BOM, "crlf.md": BOM.replace(b"\n", b"\r\n")})
    case.ok("reindex")
    for path in ("lf.md", "crlf.md"):
        capture = case.capture(path)
        assert (capture["title"], capture["user_tags"]) == ("Pump", ["a"])
    for row in case.json("recall", "body")["results"]:
        assert "title:" not in row["excerpt"]
        assert "\ufeff" not in row["excerpt"]


def test_line_ends_and_byte_order_marks_make_no_other_note_and_no_other_vector(
    make_case: MakeCase,
) -> None:
    """B05"""
    notes = {"lf.md": BOM, "crlf.md": BOM.replace(b"\n", b"\r\n")}
    case = make_case(notes)
    case.ok("reindex")
    assert len(case.embedder.texts) == 1, "equal texts share one vector"
    with VaultIndex.open(case.settings) as index:
        hashes = {content for _, content in stored_files(index.database.read()).values()}
    assert len(hashes) == 1
    assert {path: raw for path, (raw, _) in case.files().items()} == notes


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tags:", []),
        ("tags: 2024", ["2024"]),
        ("tags: alpha, beta", ["alpha", "beta"]),
        ("tags: #foo", []),
        ('tags: [2024, null, "x y"]', ["2024", "x y"]),
    ],
)
def test_tags_of_every_shape_are_a_list_of_whole_words(
    make_case: MakeCase, line: str, expected: list[str]
) -> None:
    """B06"""
    case = make_case({"n.md": f"---\n{line}\n---\nThe pump."})
    hash_eaten = "#" in line
    result = case.run("reindex")
    assert result.exit_code == (3 if hash_eaten else 0)
    assert ("tags value starts with '#': quote it" in result.stderr) is hash_eaten
    assert case.capture("n.md")["user_tags"] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("aliases:", []),
        ("aliases: 2024", ["2024"]),
        ("aliases: alpha, beta", ["alpha", "beta"]),
        ("aliases: #foo", []),
        ('aliases: [2024, null, "x y"]', ["2024", "x y"]),
    ],
)
def test_aliases_are_read_as_tags_are(make_case: MakeCase, line: str, expected: list[str]) -> None:
    """B06"""
    case = make_case({"n.md": f"---\n{line}\n---\nThe pump."})
    case.run("reindex")
    assert case.capture("n.md")["payload"]["aliases"] == expected


EMPTY = ["null", "~", "", '""', "[]", "{}"]
TYPED: dict[str, tuple[str, object]] = {
    "title": ("title", "n"),
    "author": ("author", None),
    "description": ("description", None),
    "source": ("source", "note"),
    "type": ("mem_type", None),
    "importance": ("importance_from", "inferred"),
    "layer": ("layer", None),
    "status": ("mem_state", None),
    "thread": ("thread_id", None),
    "pinned": ("pinned", False),
    "archived": ("archived", False),
    "superseded_by": ("superseded_by", None),
    "tags": ("user_tags", []),
    "entities": ("entities", []),
}


def test_a_note_whose_keys_are_all_null_is_stored_with_the_defaults(make_case: MakeCase) -> None:
    """B08"""
    case = make_case({"n.md": "---\ntitle:\ntype: null\nimportance: ~\n---\nBody"})
    case.ok("reindex")
    capture = case.capture("n.md")
    assert (capture["title"], capture["source"]) == ("n", "note")
    assert capture["payload"]["kind"] == "note"
    assert capture["importance_from"] == "inferred"


@pytest.mark.parametrize("empty", EMPTY)
def test_no_empty_value_of_any_field_loses_the_note(make_case: MakeCase, empty: str) -> None:
    """B08"""
    missing = {"n.md": "Body about pumps"}
    case = make_case(missing)
    case.ok("reindex")
    for key, (field, default) in TYPED.items():
        assert case.capture("n.md")[field] == default, f"{key} missing"
    lines = "\n".join(f"{key}: {empty}" for key in [*TYPED, "created", "id", "url", "valid_from"])
    case.write({"n.md": f"---\n{lines}\n---\nBody about pumps"})
    case.run("reindex")
    capture = case.capture("n.md")
    for key, (field, default) in TYPED.items():
        assert capture[field] == default, f"{key}: {empty}"
    assert capture["recorded_at_from"] == "mtime"
    assert case.paths("pumps") == ["n.md"]


def test_a_note_that_cannot_be_parsed_is_never_written_to(make_case: MakeCase) -> None:
    """B09"""
    case = make_case({"bad.md": "---\nname: a\naliases:\n  * bar\n---\n", "good.md": "fine"})
    before = case.files()
    case.run("reindex")
    case.run("reindex", "--full")
    case.paths("fine")
    case.run("refetch", "bad.md", "--re-extract")
    with case.served():
        case.json("list")
    assert case.files() == before


def test_of_two_blocks_the_first_is_metadata_and_the_second_stays_findable(
    make_case: MakeCase,
) -> None:
    """B09"""
    two = "---\nid: stamped\n---\n---\ntitle: Pump\ndescription: buried below\n---\nBody\n"
    case = make_case({"two.md": two, "other.md": "else"})
    result = case.run("reindex")
    assert "two.md" in result.stderr
    capture = case.capture("two.md")
    assert (capture["id"], capture["title"]) == ("stamped", "two")
    assert codes(case, "two.md") == ["frontmatter_second_block"]
    assert case.paths("buried below")[0] == "two.md"


IMPORTED = """---
title: Deep Work: Rules
author: @someone
citekey: @roe2024
Status: Rate:: 5
created: 2024-03-01
---
Chapter one.
"""


def test_values_that_importers_forget_to_quote_are_taken_as_they_stand(
    make_case: MakeCase,
) -> None:
    """B10"""
    case = make_case({"book.md": IMPORTED, "other.md": "Deep in the shallow end of the pool"})
    result = case.run("reindex")
    assert len([line for line in result.stderr.splitlines() if "book.md" in line]) == 1
    capture = case.capture("book.md")
    assert (capture["title"], capture["author"]) == ("Deep Work: Rules", "@someone")
    assert capture["recorded_at"].startswith("2024-03-01"), "the other keys are kept"
    assert case.paths("Deep Work")[0] == "book.md"


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        ("title: Deep Work: Rules", "title", "Deep Work: Rules"),
        ("title: *Nature* paper", "title", "*Nature* paper"),
        ("author: @someone", "author", "@someone"),
        ("citekey: @roe2024", "author", "Jane Roe"),
        ("Status: Rate:: 5", "author", "Jane Roe"),
        ("summary: `code` first", "description", "code first"),
        ('title: "Quoted" and on', "title", '"Quoted" and on'),
    ],
)
def test_each_unquoted_value_alone_costs_nothing_but_one_warning(
    make_case: MakeCase, line: str, field: str, expected: str
) -> None:
    """B10"""
    more = "" if line.startswith("author") else "author: Jane Roe\n"
    case = make_case({"n.md": f"---\n{line}\n{more}tags: [kept]\n---\nBody"})
    result = case.run("reindex")
    assert len([each for each in result.stderr.splitlines() if each.startswith("n.md")]) == 1
    capture = case.capture("n.md")
    assert (capture[field], capture["user_tags"]) == (expected, ["kept"])
