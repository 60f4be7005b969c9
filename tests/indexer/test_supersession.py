"""Ids and supersession chains, settled across notes in a real index."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing import found, reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from support import FakeEmbedder, make_vault


def note(text: str, **fields: str) -> str:
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in fields.items()) + f"---\n{text}"


def record(settings: Settings, path: str):  # type: ignore[no-untyped-def]
    with VaultIndex.open(settings) as index:
        return index.capture_at(path)


@pytest.mark.parametrize(
    "pointer", ["new", "new.md", '"[[new]]"', '"[[new|the new one]]"', "id-new"]
)
def test_only_the_head_of_a_chain_is_a_hit(tmp_path: Path, pointer: str) -> None:
    settings = make_vault(
        tmp_path / "v",
        {
            "old.md": note("the plan", superseded_by=pointer),
            "new.md": note("the plan, again", id="id-new"),
        },
    )
    reindex(settings, FakeEmbedder())
    assert found(settings, "plan") == ["new.md"]
    assert found(settings, "plan", Filters(heads_only=False)) == ["old.md", "new.md"]
    assert record(settings, "old.md").head_id == "id-new"


def test_a_newer_note_may_say_what_it_supersedes(tmp_path: Path) -> None:
    settings = make_vault(
        tmp_path / "v",
        {
            "a.md": note("plan one", created="2026-01-01"),
            "b.md": note("plan two", created="2026-01-02", supersedes='"[[a]]"'),
            "c.md": note("plan three", created="2026-01-03", supersedes='"[[b]]"'),
        },
    )
    reindex(settings, FakeEmbedder())
    assert found(settings, "plan") == ["c.md"]


@pytest.mark.parametrize("said_by", ["old.md", "new.md"])
def test_a_capture_says_the_id_of_what_replaced_it_whichever_of_the_two_says_so(
    tmp_path: Path, said_by: str
) -> None:
    pointers = {"old.md": {"superseded_by": '"[[new]]"'}, "new.md": {"supersedes": '"[[old]]"'}}
    notes = {path: note("the plan", **pointers[path]) for path in (said_by,)}
    settings = make_vault(tmp_path / "v", {"old.md": "the plan", "new.md": "the plan"} | notes)
    reindex(settings, FakeEmbedder())
    assert record(settings, "old.md").superseded_by == record(settings, "new.md").id
    assert record(settings, "new.md").superseded_by is None
    (settings.vault / "new.md").unlink()
    reindex(settings, FakeEmbedder())
    written = "new" if said_by == "old.md" else None
    assert record(settings, "old.md").superseded_by == written


def test_a_pointer_to_nothing_leaves_the_note_a_head_until_its_target_appears(
    tmp_path: Path,
) -> None:
    settings = make_vault(tmp_path / "v", {"old.md": note("the plan", superseded_by="later")})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    assert found(settings, "plan") == ["old.md"]
    write(settings, "later.md", "the plan later")
    reindex(settings, embedder)
    assert found(settings, "plan") == ["later.md"]
    (settings.vault / "later.md").unlink()
    reindex(settings, embedder)
    assert found(settings, "plan") == ["old.md"]


def test_a_ring_shows_its_newest_note_and_is_a_problem(tmp_path: Path) -> None:
    settings = make_vault(
        tmp_path / "v",
        {
            "a.md": note("plan", created="2026-01-01", superseded_by="b"),
            "b.md": note("plan", created="2026-01-02", superseded_by="a"),
        },
    )
    reindex(settings, FakeEmbedder())
    assert found(settings, "plan") == ["b.md"]
    with VaultIndex.open(settings) as index:
        assert {p.code for p in index.problems()} == {"circular_supersession"}


@pytest.mark.parametrize("key", ["superseded_by", "supersedes"])
@pytest.mark.parametrize("pointer", ["a", '"[[a]]"', "a.md"])
def test_a_note_that_supersedes_itself_stays_its_own_head_and_is_a_problem(
    tmp_path: Path, key: str, pointer: str
) -> None:
    settings = make_vault(tmp_path / "v", {"a.md": note("plan", **{key: pointer})})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    assert found(settings, "plan") == ["a.md"]
    assert record(settings, "a.md").head_id == record(settings, "a.md").id
    with VaultIndex.open(settings) as index:
        [problem] = index.problems()
    assert (problem.path, problem.code) == ("a.md", "circular_supersession")
    assert "replaces itself" in problem.reason
    write(settings, "a.md", "plan")
    reindex(settings, embedder)
    with VaultIndex.open(settings) as index:
        assert index.problems() == []


def test_a_note_that_names_itself_is_replaced_by_what_replaces_it(tmp_path: Path) -> None:
    settings = make_vault(
        tmp_path / "v",
        {
            "a.md": note("plan", superseded_by="a"),
            "b.md": note("plan", supersedes="[a, b]"),
        },
    )
    reindex(settings, FakeEmbedder())
    assert found(settings, "plan") == ["b.md"]
    with VaultIndex.open(settings) as index:
        assert [each.path for each in index.problems()] == ["a.md", "b.md"]


def test_of_two_notes_with_one_id_the_first_recorded_keeps_it(tmp_path: Path) -> None:
    settings = make_vault(
        tmp_path / "v",
        {
            "copy.md": note("copy", id="same", created="2026-02-01"),
            "first.md": note("first", id="same", created="2026-01-01"),
        },
    )
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    assert record(settings, "first.md").id == "same"
    assert record(settings, "copy.md").id != "same"
    with VaultIndex.open(settings) as index:
        assert [(p.path, p.code) for p in index.problems()] == [("copy.md", "duplicate_id")]
    (settings.vault / "first.md").unlink()
    reindex(settings, embedder)
    assert record(settings, "copy.md").id == "same"
    with VaultIndex.open(settings) as index:
        assert index.problems() == []


def test_the_same_ids_are_settled_whatever_the_order_of_arrival(tmp_path: Path) -> None:
    early = note("first", id="same", created="2026-01-01")
    late = note("copy", id="same", created="2026-02-01")
    settings = make_vault(tmp_path / "v", {"copy.md": late})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    write(settings, "first.md", early)
    reindex(settings, embedder)
    assert record(settings, "first.md").id == "same"


def test_ids_from_paths_are_the_same_on_every_machine(tmp_path: Path) -> None:
    ids = []
    for machine in ("one", "two"):
        settings = make_vault(tmp_path / machine / "v", {"Notes/a.md": "alpha"})
        reindex(settings, FakeEmbedder())
        ids.append(record(settings, "Notes/a.md").id)
    assert ids[0] == ids[1]
    assert len(ids[0]) == 26
