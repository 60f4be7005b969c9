"""`khiipd recall` in its three modes, as a person reads it and as a program does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Khiipd
from khiip_sidecar.cli.memory_rows import history_lines
from khiip_sidecar.cli.passage_lines import passage_lines

NOTES = {
    "Khipu.md": "# Khipu\n\nAn accounting device.\n\n## Reading\n\nKnots on cords kept accounts.",
    "Plan.md": "---\nentity: [Wayside, Tomas Brekke]\nlayer: goal\n---\nShip the map.",
    "Trail.md": "---\nentity: Wayside\nlayer: caveat\npinned: true\n---\nNo half a country.",
    "Wayside.md": "---\nkind: project\n---\nThe map.",
}


@pytest.fixture
def filled(cli: Khiipd) -> Iterator[Khiipd]:
    for name, text in NOTES.items():
        (cli.settings.vault / name).write_text(text, encoding="utf-8")
    cli.run("reindex")
    yield cli


def test_json_is_the_answer_of_rest_in_every_mode(filled: Khiipd) -> None:
    search = json.loads(filled.ok("recall", "accounts", "--match", "hybrid", "--json").stdout)
    assert search["results"][0]["vault_path"] == "Khipu.md"
    history = json.loads(filled.ok("recall", "--path", "Khipu", "--json").stdout)
    assert history["linked_memories"][0]["title"] == "Khipu"
    overview = json.loads(filled.ok("recall", "--json").stdout)
    assert {each["name"] for each in overview["entities"]} >= {"Wayside", "Tomas Brekke"}


def test_an_overview_is_a_line_an_entity(filled: Khiipd) -> None:
    lines = filled.ok("recall").stdout.splitlines()
    (wayside,) = [line for line in lines if "Wayside" in line]
    assert "2 notes, 1 goal, 1 caveat, 1 pinned, project" in wayside
    for none in (("--kind", "company"), ("--offset", "50")):
        result = filled.ok("recall", *none)
        assert (result.stdout, result.stderr) == ("", "nothing found\n")


def test_a_kind_beside_a_query_is_a_wrong_usage(filled: Khiipd) -> None:
    result = filled.run("recall", "map", "--kind", "project")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "`kind` belongs to the overview of entities" in result.stderr


def test_a_passage_stands_in_the_place_of_the_excerpt(filled: Khiipd) -> None:
    shown = filled.ok("recall", "cords", "--match", "lexical", "--passages").stdout
    assert "Knots on cords kept accounts." in shown
    assert "line 7" in shown
    assert "An accounting device.\n" not in filled.ok("recall", "cords", "--passages").stdout


def test_an_explanation_is_one_line_that_adds_up(filled: Khiipd) -> None:
    shown = filled.ok("recall", "cords", "--match", "hybrid", "--explain").stdout
    assert "relevance " in shown
    assert "content_match" in shown


def test_reading_can_be_left_uncounted(filled: Khiipd) -> None:
    filled.ok("recall", "cords", "--no-mark-accessed", "--limit", "1")
    assert filled.ok("access", "export").stdout.count('"at"') == 0
    filled.ok("recall", "cords", "--limit", "1")
    assert filled.ok("access", "export").stdout.count('"at"') == 1


def test_a_wrong_expression_is_a_wrong_usage(filled: Khiipd) -> None:
    result = filled.run("recall", "knots AND", "--match", "lexical", "--match-syntax", "fts5")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "MATCH expression" in result.stderr


def test_what_matches_is_made_bold_and_lines_break_at_blanks() -> None:
    passage = {
        "text": "Knots on cords\nkept the accounts of an empire.",
        "ranges": [[0, 5], [9, 14]],
        "heading": "Reading",
        "line": 7,
    }

    def mark(text: str, **style: object) -> str:
        return f"<{text}>" if style.get("bold") else text

    assert passage_lines(passage, mark, 24) == [
        "<Knots> on <cords> kept the",
        "accounts of an empire.",
        "Reading · line 7",
    ]
    nothing: dict[str, Any] = {"ranges": [], "heading": None, "line": None}
    wide = nothing | {"text": "縄の結び目が帳簿だった"}
    assert passage_lines(wide, mark, 10) == ["縄の結び目", "が帳簿だっ", "た"]
    hostile = nothing | {"text": "a\x1b[31mred"}
    assert "\x1b" not in "".join(passage_lines(hostile, mark, 40))


def test_a_history_is_told_in_lines() -> None:
    answer = {
        "paths_matched": [{"path": "A.md", "edits": 3}],
        "total_edits": 3,
        "first_edit": "2026-01-01T00:00:00Z",
        "last_edit": "2026-01-03T00:00:00Z",
        "sessions_involved": 2,
        "daily_breakdown": [
            {"day": "2026-01-03", "operation": "modified", "edits": 2},
            {"day": "2026-01-01", "operation": "created", "edits": 1},
        ],
        "user_intents": [
            {"intent": "Say it\n\nmore", "when": "2026-01-03T00:00:00Z", "occurrences": 2}
        ],
        "linked_memories": [],
        "history_state": "git",
    }
    lines = list(history_lines(answer, lambda text, **_: text, 80))
    assert lines[0] == "3 edits in 2 sessions, 2026-01-01 to 2026-01-03 (from git)"
    assert lines[1].split() == ["3", "A.md"]
    assert lines[2] == f"  2026-01-03  {'▇' * 30} 2"
    assert lines[3] == f"  2026-01-01  {'▇' * 15} 1"
    assert lines[4] == "  2026-01-03  Say it (×2)"


def test_a_path_that_leaves_the_vault_is_refused(filled: Khiipd, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    result = filled.run("recall", "--path", "../secret.md")
    assert (result.exit_code, result.stdout) == (2, "")
