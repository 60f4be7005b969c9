"""A conversation kept a turn a note: what is beside a hit is found with it."""

from __future__ import annotations

from pathlib import Path

from houses import note, open_house


def turns(thread: str, *said: str) -> dict[str, str]:
    return {
        f"{thread}/{number:03}.md": note(text, thread_id=thread, created="2026-01-01")
        for number, text in enumerate(said)
    }


def test_the_turn_after_a_question_is_found_with_it_and_never_before_it(tmp_path: Path) -> None:
    notes = turns(
        "monday",
        "good morning dear friend",
        "which harbour did you sail to last summer",
        "the one with three windmills and no bakery",
        "sounds lovely",
    )
    notes |= turns("tuesday", "bread again", "salt and butter", "see you")
    with open_house(tmp_path / "vault", notes, weak_below=0.3) as house:
        answer = house.operations.recall(
            {"q": ["harbour sail summer"], "match": ["hybrid"], "view": ["lean"]}
            | {"explain": ["true"], "mark_accessed": ["false"]}
        )
        rows = answer["results"]
        paths = [row["vault_path"] for row in rows]
        assert paths[0] == "monday/001.md"
        assert set(paths[1:4]) == {"monday/000.md", "monday/002.md", "monday/003.md"}
        assert all("thread_context" in row["match_reasons"] for row in rows[1:4])
        assert rows[1]["score"] < rows[0]["score"]
        assert not any("thread_context" in row["match_reasons"] for row in rows[4:])


def test_a_neighbour_that_a_filter_leaves_out_is_not_brought_back(tmp_path: Path) -> None:
    notes = turns("a", "knots on cords", "yes") | {
        "a/002.md": note("no", thread_id="a", created="2026-01-01", tags="[draft]")
    }
    with open_house(tmp_path / "vault", notes) as house:
        answer = house.operations.recall(
            {"q": ["knots"], "match": ["hybrid"], "view": ["lean"], "-tag": ["draft"]}
        )
        assert {row["vault_path"] for row in answer["results"]} == {"a/000.md", "a/001.md"}
