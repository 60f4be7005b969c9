"""How rows, problems and errors look to a person."""

from __future__ import annotations

import io
import json
from typing import Any

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.errors import UsageError
from khiip_indexer.types import Problem
from khiip_sidecar.cli import output
from khiip_sidecar.cli.rows import row_lines
from khiip_sidecar.wire.encode import error_body

LONG = "The knots of a quipu held numbers, and perhaps names. " * 20


def row(**changes: Any) -> dict[str, Any]:
    return {
        "id": "01J",
        "source": "wiki",
        "title": "Quipu",
        "author": "Ada",
        "recorded_at": "2026-01-31T10:00:00Z",
        "vault_path": "Notes/Quipu.md",
        "excerpt": "Knots in cords.",
        "score": 0.61234,
    } | changes


def unpainted(text: str, **_: object) -> str:
    return text


def test_a_hit_is_score_and_title_then_origin_then_excerpt() -> None:
    assert row_lines(row(), unpainted, 80) == [
        "0.612  Quipu",
        "       wiki · Ada · 2026-01-31 · Notes/Quipu.md",
        "       Knots in cords.",
    ]


def test_negative_scores_stay_in_their_column() -> None:
    assert row_lines(row(score=-0.05), unpainted, 80)[0] == "-0.050 Quipu"


def test_a_row_without_a_score_starts_with_the_title() -> None:
    lines = row_lines({key: value for key, value in row().items() if key != "score"}, unpainted, 80)
    assert lines == ["Quipu", "  wiki · Ada · 2026-01-31 · Notes/Quipu.md", "  Knots in cords."]


def test_what_is_not_known_leaves_no_gap() -> None:
    lines = row_lines(row(author=None, excerpt=""), unpainted, 80)
    assert lines == ["0.612  Quipu", "       wiki · 2026-01-31 · Notes/Quipu.md"]


def test_weak_hits_are_marked() -> None:
    assert row_lines(row(weak=True), unpainted, 80)[1].endswith("Notes/Quipu.md [weak]")


@pytest.mark.parametrize("text", [LONG, "結び目で数える。" * 60, "e\u0301" * 300, "👩‍👩‍👧 " * 90])
def test_excerpts_fit_the_width_and_titles_are_never_cut(text: str) -> None:
    lines = row_lines(row(excerpt=text, title=text), unpainted, 60)
    assert output.columns(lines[2]) <= 60
    assert lines[2].endswith("…")
    assert lines[0] == f"0.612  {text}"


def test_an_excerpt_is_one_line() -> None:
    assert row_lines(row(excerpt="one\n\n  two\tthree\r\n"), unpainted, 80)[2].strip() == (
        "one two three"
    )


def test_a_note_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\x9b31m\u2028end"
    shown = "\n".join(row_lines(row(title=evil, excerpt=evil, author=evil), unpainted, 80))
    assert not any(char in shown for char in "\x1b\x07\x9b\u2028")


@given(st.text())
def test_any_text_becomes_one_printable_line(text: str) -> None:
    shown = output.plain(text)
    assert len(shown.splitlines()) <= 1
    assert output.plain(shown) == shown
    assert len(shown) == len(text)


@given(st.text(max_size=80), st.integers(1, 40))
def test_cut_text_never_takes_more_columns_than_there_are(text: str, width: int) -> None:
    shown = output.cut(text, width)
    assert output.columns(shown) <= width
    assert shown == text or shown.endswith("…")


def test_problems_are_lines_as_compilers_write_them() -> None:
    assert output.problem_line(Problem("a.md", "x", "It is odd.", 3)) == "a.md:3: It is odd."
    assert output.problem_line(Problem("a.md", "x", "It is odd.")) == "a.md: It is odd."


def test_nan_never_reaches_stdout() -> None:
    with pytest.raises(ValueError, match="JSON"):
        output.write_json({"score": float("nan")})


def run(function: Any, *args: Any, **kwargs: Any) -> Any:
    command = click.Command("x", callback=lambda: function(*args, **kwargs))
    return CliRunner().invoke(command)


def test_errors_are_a_sentence_and_a_hint_on_stderr() -> None:
    result = run(output.show_error, UsageError("`limit` is odd.", hint="Give 10."))
    assert result.stdout == ""
    assert result.stderr == "khiipd: `limit` is odd.\n  Give 10.\n"


def test_errors_as_json_are_what_rest_answers() -> None:
    error = UsageError("`limit` is odd.", hint="Give 10.")
    result = run(output.show_error, error, as_json=True)
    assert json.loads(result.stderr) == error_body(error)
    assert result.stdout == ""


def test_names_that_are_no_unicode_are_written_as_their_bytes() -> None:
    result = run(output.write, "caf\udce9.md")
    assert result.stdout_bytes == b"caf\xe9.md\n"
    assert run(output.write, "\ud800.md").stdout_bytes == b"?.md\n"


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in output.painter(Terminal())("red", fg="red")
    assert output.painter(io.StringIO())("red", fg="red") == "red"
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.painter(Terminal())("red", fg="red") == "red"
    assert output.width_of(io.StringIO()) == output.PIPED_WIDTH
    assert output.width_of(Terminal()) > 0
