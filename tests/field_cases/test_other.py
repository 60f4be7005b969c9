"""Queries of every kind, folders that are left out, and notes that nobody may touch."""

from __future__ import annotations

import json
import sqlite3
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from field_cases.conftest import Case, MakeCase, Opened

QUERIES = [
    "POL-358", "2026-05-08", "don't", "C++", '"unclosed', "AND", "NOT x", "NEAR(", "a*", "(", "^",
    ".md", "title:x", "-quick",
]  # fmt: skip


class TestPunctuation:
    """B39, by meaning"""

    @pytest.fixture
    def case(self, make_case: MakeCase) -> Case:
        case = make_case({f"{n}.md": f"a note of {each} in text" for n, each in enumerate(QUERIES)})
        case.ok("reindex")
        return case

    def test_ordinary_punctuation_is_only_text_over_http(self, case: Case) -> None:
        with case.http() as client:
            for query in QUERIES:
                response = client.get("/api/v1/recall", params={"q": query})
                assert response.status_code == 200, query
                assert response.json()["results"], query
                assert response.json()["query"] == query

    def test_ordinary_punctuation_is_only_text_on_the_command_line(self, case: Case) -> None:
        for query in QUERIES:
            assert case.json("recall", "--", query)["results"], query
        assert case.paths("POL-358")[0] == "0.md"

    def test_a_query_may_start_with_a_dash(self, case: Case) -> None:
        for typed in (["-quick"], ["-other", "words"], ["fox", "-5", "--limit", "3"]):
            answer = json.loads(case.ok("recall", "--json", *typed).stdout)
            assert answer["query"] == " ".join(typed).removesuffix(" --limit 3")
        below = case.json("recall", "quick", "--min-score", "-0.5")
        assert below["query"] == "quick"

    @pytest.mark.parametrize("typo", [["-l", "5"], ["--limt", "5"], ["-q"]])
    def test_a_mistyped_option_is_still_wrong_usage(self, case: Case, typo: list[str]) -> None:
        result = case.run("recall", "fox", *typo)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "No such option" in result.stderr

    @pytest.mark.parametrize("blank", ["", "   ", "\t\n", "\u3000"])
    def test_a_blank_query_is_refused_in_words(self, case: Case, blank: str) -> None:
        with case.http() as client:
            response = client.get("/api/v1/recall", params={"q": blank})
        assert (response.status_code, response.json()["error"]) == (422, "empty_query")
        assert "query is empty" in response.json()["detail"]
        result = case.run("recall", blank)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "query is empty" in result.stderr

    @settings(
        max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(query=st.text(st.characters(codec=None, exclude_categories=()), max_size=40))
    def test_no_text_at_all_makes_the_command_line_fail(self, case: Case, query: str) -> None:
        result = case.run("recall", "--json", "--", query)
        assert result.exit_code == (2 if result.stderr else 0)
        json.loads(result.stdout or result.stderr)


class TestNulAndHalfEmoji:
    """B13"""

    NOTES: ClassVar[dict[str, str | bytes]] = {
        "nul.md": "abc\0def ghi",
        "half.md": b"cut in the middle \xed\xa0\xbd of an emoji",
        "whole.md": "x" * 499 + "🐘 the elephant",
    }

    def test_what_stands_behind_a_nul_is_found(self, make_case: MakeCase) -> None:
        case = make_case(self.NOTES)
        case.run("reindex")
        assert case.paths("ghi")[0] == "nul.md"
        assert "\0" not in json.dumps(case.capture("nul.md"), ensure_ascii=False)

    def test_a_query_with_a_nul_or_half_an_emoji_is_answered(self, make_case: MakeCase) -> None:
        case = make_case(self.NOTES)
        case.run("reindex")
        with case.http() as client:
            for sent in ("a%00b", "a%20%ED%A0%BD%20b", "%F0%9F%98", "%FF%FE"):
                response = client.get(f"/api/v1/recall?q={sent}")
                assert response.status_code == 200
                response.content.decode("utf-8", "strict")
        for typed, read in [("a\0b", "a b"), ("a \ud83d b", "a \ufffd b"), ("\udcff", "\ufffd")]:
            answer = case.json("recall", typed)
            assert answer["results"]
            assert answer["query"] == read

    def test_every_answer_is_valid_utf_8_and_an_excerpt_ends_at_a_whole_character(
        self, make_case: MakeCase
    ) -> None:
        case = make_case(self.NOTES)
        case.run("reindex")
        with case.http() as client:
            for view in ("lean", "full"):
                raw = client.get(f"/api/v1/captures?view={view}").content
                assert "\\ud" not in raw.decode("utf-8", "strict")
            rows = client.get("/api/v1/captures?view=lean").json()
        [excerpt] = [row["excerpt"] for row in rows if row["vault_path"] == "whole.md"]
        assert excerpt == "x" * 499 + "🐘…"
        assert case.paths("emoji")[0] == "half.md"

    def test_a_body_with_half_an_emoji_is_refused_in_words(self, make_case: MakeCase) -> None:
        case = make_case(self.NOTES)
        case.run("reindex")
        with case.http() as client:
            response = client.post(
                "/api/v1/index",
                content=b'{"a \\ud83d b": 1}',
                headers={"Content-Type": "application/json"},
            )
        assert response.status_code == 422
        response.content.decode("utf-8", "strict")


HIDDEN = {
    ".trash/old.md": "in the bin",
    ".obsidian/x.md": "a setting",
    ".git/y.md": "a hook",
    ".khiip/z.md": "the index",
    "proj/node_modules/p/README.md": "a package",
    "Private/a.md": "a secret",
}
FILTERS = {".obsidian/app.json": '{"userIgnoreFilters":["Private/"]}'}


class TestLeftOut:
    """B25"""

    def test_left_out_notes_are_not_read_not_embedded_and_not_found(
        self, make_case: MakeCase, opened: Opened
    ) -> None:
        case = make_case(HIDDEN | FILTERS | {"ok.md": "a note"})
        with opened.during() as touched:
            case.ok("reindex")
            case.ok("reindex", "--full")
        for path in HIDDEN:
            assert str(case.vault / path) not in touched
        for folder in (".trash", ".git/hooks", "proj/node_modules"):
            assert str(case.vault / folder) not in touched
        assert str(case.vault / "ok.md") in touched
        assert [row["vault_path"] for row in case.json("list")] == ["ok.md"]
        assert len(case.embedder.texts) == 1

    @pytest.mark.parametrize(
        ("path", "rule"),
        [
            (".trash/old.md", ".trash"),
            (".obsidian/x.md", ".obsidian"),
            (".git/y.md", ".git"),
            (".khiip/z.md", ".khiip"),
            ("proj/node_modules/p/README.md", "node_modules"),
            ("Private/a.md", "Private/"),
        ],
    )
    def test_the_rule_that_left_a_note_out_can_be_asked_for(
        self, make_case: MakeCase, path: str, rule: str
    ) -> None:
        case = make_case(HIDDEN | FILTERS | {"ok.md": "a note"})
        said = case.ok("reindex", "--explain", path).stdout
        assert said.startswith(f"{path}: left out: ")
        assert rule in said.partition(": left out: ")[2]
        assert "no rule" in case.ok("reindex", "--explain", "ok.md").stdout

    def test_a_folder_that_is_excluded_later_leaves_with_its_rows_and_vectors(
        self, make_case: MakeCase
    ) -> None:
        case = make_case({"Private/a.md": "a secret", "ok.md": "a note"})
        case.ok("reindex")
        secret = case.capture("Private/a.md")["id"]
        assert case.json("status")["index"]["vectors"] == 2
        case.write(FILTERS)
        case.ok("reindex")
        assert [row["vault_path"] for row in case.json("list")] == ["ok.md"]
        assert case.json("status")["index"]["vectors"] == 1
        assert case.paths("secret") == ["ok.md"]
        assert case.run("get", secret).exit_code == 1
        with sqlite3.connect(case.settings.state / "cache.sqlite") as cache:
            rows = cache.execute("SELECT path FROM captures").fetchall()
        cache.close()
        assert rows == [("ok.md",)]


class TestUntouched:
    """B62"""

    def test_nothing_that_reads_changes_a_byte_or_a_time(self, make_case: MakeCase) -> None:
        case = make_case(
            {
                "a.md": "---\ntags: [b, a]\n---\nThe pump.",
                "b.md": b"\xef\xbb\xbf---\r\ntitle: Crlf\r\n---\r\nBody\r\n",
                "bad.md": "---\nname: a\naliases:\n  * bar\n---\n",
                "pic.png": b"\x89PNG",
                ".obsidian/app.json": "{}",
            }
        )
        before = case.files()
        for option in ((), ("--full",), ("--check",), ("--verify",)):
            case.run("reindex", *option)
        with case.served():
            for n in range(20):
                case.paths(f"pump {n}")
            case.json("list")
            case.json("related", "a.md")
            case.run("refetch", "bad.md", "--re-extract")
            case.run("status")
        case.run("doctor")
        assert case.files() == before

    def test_writing_the_index_makes_nothing_look_changed(self, make_case: MakeCase) -> None:
        case = make_case({"a.md": "The pump."})
        case.ok("reindex")
        for _ in range(2):
            assert "nothing changed" in case.ok("reindex").stderr
            assert case.ok("reindex", "--check").exit_code == 0
