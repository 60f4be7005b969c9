"""The floor below which the real model's scores mean nothing, pinned by what it says of a vault
of recipes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from khiip_indexer.embedder import MiniLM
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService
from support import make_vault

DISHES = {
    "Lentil soup": "Simmer red lentils with cumin and lemon until they fall apart.",
    "Roast chicken": "Salt the bird the day before and roast it hot until the skin crackles.",
    "Apple pie": "Toss sliced apples with sugar and cinnamon under a butter crust.",
    "Ratatouille": "Stew aubergine, courgette and tomato slowly in olive oil.",
    "Pancakes": "Whisk eggs, milk and flour and fry thin rounds in a hot pan.",
    "Sourdough": "Fold the wet dough four times and let it rest overnight in the fridge.",
    "Risotto": "Stir hot stock into the rice a ladle at a time, then beat in parmesan.",
    "Miso aubergine": "Brush halves with miso and sugar and grill until blistered.",
    "Tomato salad": "Slice ripe tomatoes, salt them, and wait ten minutes before the oil.",
    "Fish stew": "Poach cod in saffron broth with fennel and potatoes.",
}
WAYS = ("", "for two", "in winter", "the quick way", "as my aunt makes it")
UNRELATED = (
    "kubernetes ingress timeout",
    "mortgage refinancing rates",
    "javascript undefined is not a function",
    "penicillin resistance in staphylococcus",
    "premier league transfer window",
)
RELATED = ("how long should dough rest", "something with lentils", "grilled vegetables", "dessert")


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operations]:
    notes = {
        f"{title} {way}".strip() + ".md": f"# {title} {way}\n\n{text}\n"
        for title, text in DISHES.items()
        for way in WAYS
    }
    settings = make_vault(tmp_path_factory.mktemp("weak") / "recipes", notes)
    embedder = MiniLM(cache_dir=settings.homes.cache)
    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder).run()
        yield Operations(RecallService(index, embedder))


def hits(recipes: Operations, query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = recipes.recall({"q": [query], "view": ["lean"]})["results"]
    return rows


@pytest.mark.parametrize("query", UNRELATED)
def test_every_hit_for_what_no_note_speaks_of_is_weak(recipes: Operations, query: str) -> None:
    assert [row["score"] for row in hits(recipes, query) if not row.get("weak")] == []


@pytest.mark.parametrize("query", RELATED)
def test_the_first_hit_for_what_a_note_does_speak_of_is_not_weak(
    recipes: Operations, query: str
) -> None:
    assert "weak" not in hits(recipes, query)[0]
