"""Lists of full captures ask the cache for a page of them, not for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from houses import House, note, open_house
from khiip_sidecar import operations

COUNT = 12
NOTES = {
    f"knot {number}.md": note(f"Knot {number} holds like [[knot 0]].", created=f"day {number}")
    for number in range(COUNT)
}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    root: Path = tmp_path_factory.mktemp("full") / "vault"
    with open_house(root, NOTES) as made:
        made.embedder.fail_on = lambda text: "Knot 3" in text
        for number in (2, 3):
            made.write(f"knot {number}.md", f"Knot {number} slips. [[knot 0]]")
        made.sync()
        yield made


def asked(house: House, do: Callable[[], object]) -> list[str]:
    statements: list[str] = []
    connection = house.index.database.read()
    connection.set_trace_callback(statements.append)
    do()
    connection.set_trace_callback(None)
    return statements


@pytest.mark.parametrize("query", [{}, {"query": ["knot"]}])
def test_many_full_captures_take_as_many_statements_as_few(
    house: House, query: dict[str, list[str]]
) -> None:
    ask = house.operations.recall if query else house.operations.captures

    def statements(limit: int) -> int:
        given = {**query, "view": ["full"], "limit": [str(limit)]}
        ask(given)
        return len(asked(house, lambda: ask(given)))

    assert statements(COUNT) == statements(2)


def test_a_page_of_full_captures_is_as_each_of_them(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "PAGE", 5)
    captures = house.operations.captures({"view": ["full"], "limit": ["1000"]})
    assert len(captures) == COUNT
    assert captures == [house.operations.capture(each["id"]) for each in captures]
    by_path = {each["vault_path"]: each for each in captures}
    assert [p["code"] for p in by_path["knot 5.md"]["problems"]] == ["bad_date"]
    assert by_path["knot 2.md"]["problems"] == []
    assert by_path["knot 3.md"]["extraction_attempts"] == 1
    assert by_path["knot 0.md"]["importance"] > by_path["knot 5.md"]["importance"]
