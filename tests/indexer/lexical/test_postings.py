"""What is read of words once and kept, and that it never outlives an edit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from houses import House, open_house
from indexer.lexical.texted import Texted, texted
from khiip_indexer.lexical.postings import Kept, added, postings
from khiip_indexer.lexical.terms import terms
from khiip_indexer.records import Filters

NOTES = {
    "bowline.md": "A bowline is a knot for a boat.",
    "hitch.md": "A clove hitch is another knot.",
    "boat.md": "The boat lies in the harbour.",
}


@contextmanager
def statements(house: House) -> Iterator[list[str]]:
    """What the reading connection is asked."""
    asked: list[str] = []
    connection = house.index.database.read()
    connection.set_trace_callback(asked.append)
    yield asked
    connection.set_trace_callback(None)


def found(house: House, query: str) -> set[str]:
    rows = house.index.finder.words(terms(query), Filters(), 10)
    return {record.vault_path for record in house.index.records(list(rows)).values()}


def test_a_word_is_ranked_once_while_nothing_changes(tmp_path: Path) -> None:
    with open_house(tmp_path / "vault", NOTES) as house:
        assert found(house, "boat knot") == set(NOTES)
        with statements(house) as asked:
            assert found(house, "boat knot harbour") == set(NOTES)
        ranked = [sql for sql in asked if "bm25" in sql]
        assert len(ranked) == 1
        assert "harbour" in ranked[0]


def test_an_edit_is_seen_by_the_next_search(tmp_path: Path) -> None:
    with open_house(tmp_path / "vault", NOTES) as house:
        assert found(house, "harbour") == {"boat.md"}
        house.write("hitch.md", "It holds in the harbour.")
        house.write("new.md", "Another harbour.")
        house.sync()
        assert found(house, "harbour") == {"boat.md", "hitch.md", "new.md"}
        house.remove("boat.md")
        house.sync()
        assert found(house, "harbour") == {"hitch.md", "new.md"}


def test_titles_are_read_where_they_tell_something(tmp_path: Path) -> None:
    with open_house(tmp_path / "vault", NOTES) as house:
        with statements(house) as asked:
            assert found(house, "clove harbour") == {"boat.md", "hitch.md"}
        assert not [sql for sql in asked if "title" in sql and "FROM texts" in sql]


def test_filters_that_let_in_few_find_them_among_many(tmp_path: Path) -> None:
    notes = {f"{n}": "sand " * (2 + n % 3) for n in range(40)} | {"last": "sand " + "sea " * 40}
    with texted(tmp_path, notes) as vault:
        assert best(vault, ("1", []), 2) != ["last"]
        assert best(vault, ("c.path = ?", ["last.md"]), 2) == ["last"]


def best(vault: Texted, condition: tuple[str, list[object]], pool: int) -> list[str]:
    return list(vault.hits("sand", condition, pool))


def test_what_is_kept_is_bounded() -> None:
    kept = Kept(most=5)
    two = postings([(1, 0.5), (2, 0.5)])
    for key in "ab":
        assert kept.get(key, lambda: two) is two
    assert kept.get("a", lambda: postings([])) is two
    assert kept.get("c", lambda: two) is two
    assert kept.get("a", lambda: postings([])) is not two


def test_postings_add_up_by_note() -> None:
    parts = [(postings([(3, 1.0), (1, 2.0)]), 1, 5.0), (postings([(3, 0.5)]), 2, 7.0)]
    rows, raw, held = added(parts)
    assert rows.tolist() == [1, 3]
    assert raw.tolist() == [2.0, 2.0]
    assert held.tolist() == [5.0, 12.0]
    assert not any(np.size(each) for each in added([(postings([]), 1, 5.0)]))
