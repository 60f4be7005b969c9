"""Options come from the parameter tables, and go back as the parameters of a request."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from khiip_sidecar.cli.options import Given, params_of, wire_options
from khiip_sidecar.wire.params import CAPTURES, RECALL, RELATED, Parameter

TABLES = {"recall": RECALL, "list": CAPTURES, "related": RELATED}


def params(table: tuple[Parameter, ...], *args: str) -> dict[str, list[str]]:
    seen: dict[str, list[str]] = {}

    @click.command()
    @wire_options(table)
    def command(**given: Given) -> None:
        seen.update(params_of(given))

    result = CliRunner().invoke(command, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return seen


def offered(table: tuple[Parameter, ...]) -> set[str]:
    @click.command()
    @wire_options(table)
    def command(**given: Given) -> None: ...

    return {each.name for each in command.params if each.name}


def test_nothing_said_sends_only_the_lean_view() -> None:
    assert params(RECALL) == {"view": ["lean"]}


def test_what_is_said_is_sent_as_text() -> None:
    said = params(
        RECALL, "--limit", "3", "--min-score", "-0.2", "--tag", "a", "--tag", "b,c",
        "--include-archived", "--view", "full", "--since", "7d",
    )  # fmt: skip
    assert said == {
        "limit": ["3"],
        "min_score": ["-0.2"],
        "tag": ["a", "b,c"],
        "include_archived": ["true"],
        "view": ["full"],
        "since": ["7d"],
    }


def test_an_empty_value_is_sent_so_that_the_service_can_refuse_it() -> None:
    assert params(RECALL, "--author", "")["author"] == [""]


@pytest.mark.parametrize("name", TABLES)
def test_every_parameter_is_an_option(name: str) -> None:
    assert {each.name for each in TABLES[name]} <= offered(TABLES[name])
