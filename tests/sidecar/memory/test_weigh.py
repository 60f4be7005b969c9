"""What memory says of a note, one by one and of all at once, over real indexes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from houses import NOW, House, note, open_house
from indexer.test_git_scenarios import Repo
from indexing import reindex
from khiip_indexer.history import History
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.storage.access_rows import Tally
from khiip_indexer.storage.entities import EntityReader
from khiip_sidecar.memory.constants import DAY, HOUR
from khiip_sidecar.memory.lookup import Remembered, Sources
from khiip_sidecar.memory.weigh import NoteMemory, note_memory
from support import FakeEmbedder, make_vault

EVERYTHING = Filters(include_archived=True, heads_only=False)
NOTES = {
    "plain.md": note("[[Ada]]", created="2026-06-01", updated="2026-06-02"),
    "today.md": note("[[Bob]] [[plain]]", created="2026-06-30"),
    "old.md": note("[[Bob]]", created="2020-01-01"),
    "caveat.md": note("[[Ada]] [[plain]]", created="2020-01-01", layer="caveat"),
    "pinned.md": note("Alone.", created="2020-01-01", pinned="true"),
    "high.md": note("[[plain]]", created="2020-01-01", importance=0.9),
    "future.md": note("[[plain]]", created="2031-01-01"),
    "gone.md": note("[[Bob]]", created="2026-01-01", archived="true"),
    "before.md": note("[[Bob]]", created="2026-01-01", superseded_by='"[[plain]]"'),
    "naming.md": note("[[gone]] [[before]] [[old]]", created="2026-02-01"),
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "vault", NOTES) as opened:
        index = opened.index
        index._accesses.record([opened.id_of("old.md")], at=int((NOW.timestamp() - 5 * DAY) * 1000))
        yield opened


def remembered(index: VaultIndex, now: float) -> Remembered:
    return Remembered(
        Sources(
            reader=lambda: EntityReader(index.database.read()),
            generation=lambda: index.meta("generation"),
            history=lambda: History(index.database, index.settings.vault),
            now=lambda: now,
        )
    )


def memory_of(index: VaultIndex, path: str, now: float) -> NoteMemory:
    record = index.capture_at(path)
    assert record is not None
    (known,) = remembered(index, now).known([record], index.accesses([record.id]))
    return note_memory(record, known, now)


def test_what_is_said_of_one_note(house: House) -> None:
    said = {path: memory_of(house.index, path, NOW.timestamp()) for path in NOTES}
    # Four current notes link to it: 0.3 + 0.1 * log2(5). Edited 28.5 days ago: exp(-28.5 / 45.97)
    assert said["plain.md"].importance == 0.5322
    assert said["plain.md"].importance_from == "inferred"
    assert said["plain.md"].heat.value == 0.5379
    assert said["plain.md"].reasons == ("heat:warm",)
    # Bob: one event of today, six years after the first: 0.4 * 3 + 0.3 * 7 + 0.3 * 10
    assert said["today.md"].momentum == said["old.md"].momentum == 6.3
    assert said["today.md"].reasons == ("heat:hot", "entity_active")
    assert said["old.md"].heat.value == 0.9154  # read 5 days ago, linked once: exp(-5 / 56.56)
    # Both are about `plain`, which a note of today names too.
    assert said["caveat.md"].reasons == ("heat:warm", "entity_active", "caveat_protected")
    assert said["high.md"].reasons == ("heat:warm", "entity_active", "pinned", "high_importance")
    assert said["pinned.md"].importance == 0.8
    assert said["pinned.md"].reasons == ("heat:warm", "pinned", "high_importance")
    assert said["high.md"].importance_from == "written"
    assert said["future.md"].heat.value == 1.0


@pytest.mark.parametrize("filters", [Filters(), EVERYTHING])
def test_of_all_notes_the_same_is_said_as_of_each(house: House, filters: Filters) -> None:
    index, now = house.index, NOW.timestamp()
    weights = remembered(index, now).weights(filters, index.accesses())
    records = {record.row: record for record in index.page(filters, limit=None)}
    assert sorted(records) == weights.rows.tolist()
    assert [records[row].id for row in weights.rows.tolist()] == list(weights.ids)
    composites = weights.composites(0.5).tolist()
    for place, row in enumerate(weights.rows.tolist()):
        alone = memory_of(index, records[row].vault_path, now)
        assert weights.heat[place] == alone.heat.value
        assert weights.momentum[place] == alone.momentum
        assert weights.importance[place] == alone.importance
        assert composites[place] == alone.weighed(0.5).composite
        for band in ("hot", "warm", "cold", "frozen"):
            assert (row in weights.in_bands([band])) == (alone.heat.band == band)


def test_importance_does_not_depend_on_what_is_filtered(house: House) -> None:
    filters = replace(EVERYTHING, since="2026-06-01T00:00:00Z", until="2026-06-02T00:00:00Z")
    weights = remembered(house.index, NOW.timestamp()).weights(filters, {})
    assert weights.importance.tolist() == [0.5322]


def test_a_relevance_for_each_note_orders_notes_alike_in_all_else(house: House) -> None:
    weights = remembered(house.index, NOW.timestamp()).weights(Filters(), {})
    more = np.linspace(0, 1, len(weights.rows))
    assert (weights.composites(more) >= weights.composites(0.0)).all()
    assert weights.in_bands([]).tolist() == []


def test_an_empty_index_has_no_weights(tmp_path: Path) -> None:
    with open_house(tmp_path / "empty", {}) as house:
        weights = remembered(house.index, 0.0).weights(Filters(), {"x": Tally(1, 1)})
        assert weights.composites(0.5).tolist() == []
        assert weights.in_bands(["hot", "frozen"]).tolist() == []


def test_the_files_time_counts_only_for_a_note_without_any_other_date(tmp_path: Path) -> None:
    notes = {"dated.md": note("Made.", created="2020-01-01"), "bare.md": "No date."}
    with open_house(tmp_path / "vault", notes) as house:
        now = time.time()
        assert memory_of(house.index, "dated.md", now).heat.band == "frozen"
        assert memory_of(house.index, "bare.md", now).heat.band == "hot"
        house.write("dated.md", note("Edited before our eyes.", created="2020-01-01"))
        house.sync()
        assert memory_of(house.index, "dated.md", now).heat.band == "hot"
        rows = [house.index.capture_at(path) for path in notes]
        weights = remembered(house.index, now).weights(Filters(), {})
        assert weights.rows.tolist() == sorted(record.row for record in rows if record)
        assert (weights.heat >= 0.7).all()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_after_a_clone_dates_are_those_of_git_and_not_of_the_checkout(tmp_path: Path) -> None:
    origin = Repo(make_vault(tmp_path / "origin", {}))
    origin.git("init", "-q", "-b", "main")
    origin.commit({"old.md": "[[Past]] tides"})
    origin.day = 500
    last = origin.commit({"new.md": "[[Present]] tides"})
    origin.git("clone", "-q", str(origin.vault), str(tmp_path / "clone"))
    clone = make_vault(tmp_path / "clone", {})
    reindex(clone, FakeEmbedder())
    with VaultIndex.open(clone) as index:
        now = float(last + 3 * HOUR)
        momentum = remembered(index, now).momentum()
        assert momentum.entity("past") == 0.0
        # One event, the first one, today: 0.4 * 3 + 0.3 * 7 + 0.3 * 5
        assert momentum.entity("present") == 4.8
        assert memory_of(index, "old.md", now).heat.band == "frozen"
        assert memory_of(index, "new.md", now).heat.band == "hot"


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_every_commit_of_a_note_is_an_event(tmp_path: Path) -> None:
    repo = Repo(make_vault(tmp_path / "vault", {}))
    repo.git("init", "-q", "-b", "main")
    repo.commit({"a.md": note("[[Ada]]", created="2020-01-01")})
    repo.day += 70
    for number in range(3):
        last = repo.commit({"a.md": note(f"[[Ada]] {number}", created="2020-01-01")})
    repo.sync()
    with VaultIndex.open(repo.settings) as index:
        # Recorded in 2020, committed four times, three of them this week, one of those today:
        # 0.4 * 3 + 0.3 * 7 + 0.3 * 10
        assert remembered(index, last + HOUR).momentum().entity("ada") == 6.3
        # A week later there is nothing new.
        assert remembered(index, last + 7 * DAY + 60).momentum().entity("ada") == 0.0
