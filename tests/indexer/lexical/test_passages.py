"""The passage of a hit: the one that shows why, where it stands, and what is marked in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from houses import note
from indexer.lexical.texted import Texted, texted
from khiip_indexer.lexical.passages import PassageHit, best_passages, located
from khiip_indexer.lexical.terms import terms

FILLER = "Sentence {0} about ropes and boats and the wind at sea. " * 15
PARTS = "\n\n".join(f"## Part {n}\n\n{FILLER.format(n)}" for n in range(8))
LONG = note(
    f"# On knots\n\n{PARTS}\n\n"
    "## Ending\n\nIntro.\n\n- one item\n- The **bowline** is\n  tied thus.\n",
    title="On knots",
    author="Ada",
)
NOTES = {"long": LONG, "short": "# Short\n\nA short note on bowlines.", "empty": ""}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Texted]:
    with texted(tmp_path_factory.mktemp("passages"), NOTES) as vault:
        yield vault


def marks(hit: PassageHit) -> list[str]:
    return [hit.text[start:end] for start, end in hit.ranges]


def test_the_passage_with_the_match_is_shown_with_its_heading(vault: Texted) -> None:
    hit = vault.passage("long.md", "how is the bowline tied")
    assert marks(hit) == ["bowline", "tied"]
    assert hit.heading == "Ending"
    assert "On knots" not in hit.text and "Ending" not in hit.text


def test_the_line_is_near_and_with_the_source_exact(vault: Texted) -> None:
    hit = vault.passage("long.md", "bowline")
    lines = LONG.split("\n")
    true = next(n for n, line in enumerate(lines, 1) if "bowline" in line)
    assert hit.line is not None and abs(hit.line - true) <= 2
    assert located(hit, LONG).line == true


def test_a_note_that_fits_one_passage_gets_its_line_from_the_source(vault: Texted) -> None:
    hit = vault.passage("short.md", "bowline")
    assert marks(hit) == ["bowlines"]
    assert located(hit, NOTES["short"]).line == 3


def test_the_title_is_not_part_of_what_is_shown(vault: Texted) -> None:
    hit = vault.passage("short.md", "short note")
    assert hit.text == "A short note on bowlines."


def test_a_line_that_is_not_in_the_source_any_more_stays(vault: Texted) -> None:
    hit = vault.passage("long.md", "bowline")
    assert located(hit, "something else\n") == hit


def test_without_a_literal_match_the_nearest_passage_is_shown(vault: Texted) -> None:
    rows = {path: row for row, path in vault.paths().items()}
    row = rows["long.md"]
    connection = vault.house.index.database.read()
    cosines = {row: {0: 0.1, 3: 0.9, 4: 0.2}}
    hit = best_passages(connection, [row], terms("zzz"), cosines)[row]
    assert (hit.ranges, hit.score) == ((), 0.9)
    assert hit.text.startswith("Sentence 3 about ropes")
    assert len(hit.text) <= 301 and hit.text.endswith("…")


def test_a_match_weighs_more_than_a_small_difference_in_meaning(vault: Texted) -> None:
    rows = {path: row for row, path in vault.paths().items()}
    row = rows["long.md"]
    connection = vault.house.index.database.read()
    hit = best_passages(connection, [row], terms("bowline"), {row: {2: 0.6}})[row]
    assert marks(hit) == ["bowline"]
    assert hit.score is None  # that passage's cosine was not given


def test_many_hits_are_answered_in_their_order(vault: Texted) -> None:
    rows = {path: row for row, path in vault.paths().items()}
    wanted = [rows["short.md"], rows["long.md"], 10_000]
    found = best_passages(vault.house.index.database.read(), wanted, terms("bowline"))
    assert list(found) == wanted[:2]


def test_an_empty_note_has_something_to_show_or_nothing(vault: Texted) -> None:
    assert vault.passage("empty.md", "bowline").ranges == ()
