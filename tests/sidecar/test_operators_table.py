"""The table of queries that the service and the plugin's chips understand the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from khiip_sidecar.wire.operators import OPERATORS, read_query

TABLE = Path(__file__).parents[2] / "fixtures" / "operators.json"
NOW = datetime(2026, 6, 30, 12, 0, 0, tzinfo=UTC)
EXAMPLES: list[dict[str, Any]] = json.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("example", EXAMPLES, ids=[each["query"] for each in EXAMPLES])
def test_an_example_is_understood_as_the_table_says(example: dict[str, Any]) -> None:
    read = read_query(example["query"], NOW)
    assert read.text == example["text"]
    said = [f"{'-' * term.negative}{term.parameter} {term.value}" for term in read.terms]
    assert said == example["terms"]


def test_the_table_has_every_operator() -> None:
    said = {term.split(" ", 1)[0].lstrip("-") for each in EXAMPLES for term in each["terms"]}
    assert said == set(OPERATORS.values())
