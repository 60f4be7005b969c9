"""Vaults that are indexed once for all tests of the room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from houses import House, note, open_house
from indexing import settle
from khiip_indexer.config import Settings
from serving import Served, serving
from support import FakeEmbedder, make_vault

NOTES = {
    "Notes/Quipu.md": note(
        "Knots in cords kept count.", created="2026-01-03", tags="[history]", layer="learning"
    ),
    "Notes/Tides.md": note(
        "The moon pulls the sea twice a day.", created="2026-01-02", project='"[[Harbour]]"'
    ),
    "Bread.md": note("Flour water salt and patience.", created="2026-01-01", author="Ada"),
    "Broken.md": "---\ntags: [a\n---\nA broken note.",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A few notes, indexed, one of them broken; nobody serves them."""
    settings = make_vault(tmp_path_factory.mktemp("mcp") / "vault", NOTES)
    settle(settings, FakeEmbedder())
    return settings


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same notes behind a running sidecar."""
    settings = make_vault(tmp_path_factory.mktemp("mcp-served") / "vault", NOTES)
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
        yield sidecar


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """200 notes that hold the word `user`, one of them of 3 MB."""
    notes = {
        f"Notes/{number:03}.md": note(
            f"The user of number {number} said " + "something of some length " * 40,
            created=f"2026-01-{number % 28 + 1:02}",
        )
        for number in range(199)
    }
    notes["Notes/Big.md"] = note("user " + "and a lot of words " * 160_000, created="2026-02-01")
    with open_house(tmp_path_factory.mktemp("crowd") / "vault", notes) as house:
        yield house
