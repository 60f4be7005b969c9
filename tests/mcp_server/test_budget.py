"""Answers fit the budget they were given, whatever is in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from khiip_sidecar.mcp_server.budget import (
    fit_lists,
    fit_rows,
    shortened,
    tokens_of,
)
from khiip_sidecar.tokens import tokens_in


def row(number: int, chars: int = 500, **fields: Any) -> dict[str, Any]:
    text = ("word and another " * 40)[:chars]
    return {"id": f"01JQ{number:022}", "title": f"Title {number}", "excerpt": text, **fields}


# Counted by o200k_base and cl100k_base, the higher of the two.
@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("The moon pulls the sea twice a day.", 9),
        ('{"id":"01JQ8ZK3V0M5T7R9W2X4Y6Z8AB","score":0.584967}', 35),
        ("手紙を書く", 7),
        ("枕草子を読む。春はあけぼの。やうやう白くなりゆく山ぎは", 35),
        ("한글의 모양은 소리를 닮았다", 16),
        ("Корабли вышли в море на рассвете", 16),
        ("العربية لغة جميلة جدا", 15),
        ("2026-11-30T23:50:43.000938Z", 16),
        ("🐘🐘 ok", 7),
        ("a" * 300, 38),
        ("", 0),
    ],
)
def test_the_estimate_is_no_lower_than_real_vocabularies_count(text: str, counted: int) -> None:
    assert counted <= tokens_in(text) <= counted * 2


def test_rows_that_fit_are_sent_as_they_are() -> None:
    rows = [row(1), row(2)]
    fitted = fit_rows(rows, 5000)
    assert (fitted.rows, fitted.left_out, fitted.excerpt_chars) == (rows, 0, None)


def test_excerpts_become_shorter_before_a_row_is_left_out() -> None:
    rows = [row(number) for number in range(6)]
    fitted = fit_rows(rows, tokens_of(rows) // 2)
    assert len(fitted.rows) == 6
    assert fitted.excerpt_chars is not None
    assert fitted.excerpt_chars < 500
    assert {len(each["excerpt"]) for each in fitted.rows} == {fitted.excerpt_chars + 1}
    assert all(each["excerpt"].endswith("…") for each in fitted.rows)
    assert tokens_of(fitted.rows) <= tokens_of(rows) // 2


def test_then_rows_are_left_out_from_the_end() -> None:
    rows = [row(number) for number in range(50)]
    fitted = fit_rows(rows, 200)
    assert 1 < len(fitted.rows) < 50
    assert fitted.left_out == 50 - len(fitted.rows)
    assert [each["id"] for each in fitted.rows] == [each["id"] for each in rows][: len(fitted.rows)]
    assert tokens_of(fitted.rows) <= 200


def test_one_row_is_always_sent() -> None:
    assert len(fit_rows([row(1)], 1).rows) == 1


def test_a_description_of_any_length_is_cut_and_a_title_never() -> None:
    short = shortened(row(1, description="d" * 10_000, title="t" * 300), 60)
    assert len(short["description"]) == 201
    assert len(short["title"]) == 300


def test_a_passage_is_cut_with_its_marks() -> None:
    passage = {"text": "a" * 1000, "ranges": [[0, 5], [190, 200], [900, 950]]}
    short = shortened(row(1, passage=passage), 120)
    assert len(short["passage"]["text"]) == 201
    assert short["passage"]["ranges"] == [[0, 5], [190, 200]]
    assert len(passage["text"]) == 1000


def test_lists_are_halved_the_costliest_first() -> None:
    answer = {"big": ["entry of some length"] * 400, "small": ["one", "two"], "total": 402}
    before = fit_lists(answer, ("big", "small"), 600)
    assert before == {"big": 400}
    assert 0 < len(answer["big"]) < 400  # type: ignore[arg-type]
    assert answer["small"] == ["one", "two"]
    assert tokens_in(json.dumps(answer)) <= 700
