"""The journal tells what people did to their notes, and nothing that machines did."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from indexing import reindex, write
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import journal
from khiip_indexer.storage.journal import Edit
from khiip_indexer.storage.schema import TABLES
from support import FakeEmbedder, make_vault

DAY = 24 * 3600
NOW = 1_800_000_000


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(4)})
    reindex(made, FakeEmbedder())
    return made


@pytest.fixture
def connection() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:")
    made.executescript(TABLES)
    made.execute("INSERT INTO meta VALUES ('last_reconcile', 'once')")
    return made


def edits(settings: Settings) -> list[Edit]:
    with VaultIndex.open(settings) as index:
        return journal.edits(index.database.read())


def at(path: Path, moment: int) -> None:
    os.utime(path, (moment, moment))


def test_notes_that_were_there_before_the_index_are_no_activity(settings: Settings) -> None:
    assert edits(settings) == []
    reindex(settings, FakeEmbedder(), full=True)
    reindex(settings, FakeEmbedder(name="another"))
    assert edits(settings) == []


def test_every_kind_of_edit_is_written_with_its_time(settings: Settings) -> None:
    before = int(time.time())
    at(write(settings, "0.md", "edited"), NOW - DAY)
    at(write(settings, "new.md", "created"), NOW - 2 * DAY)
    (settings.vault / "1.md").rename(settings.vault / "moved.md")
    (settings.vault / "2.md").unlink()
    reindex(settings, FakeEmbedder())
    found = {(e.operation, e.path, e.from_path): e.at for e in edits(settings)}
    assert found.pop(("modified", "0.md", None)) == min(NOW - DAY, int(time.time()))
    assert found.pop(("created", "new.md", None)) == min(NOW - 2 * DAY, int(time.time()))
    assert found.pop(("renamed", "moved.md", "1.md")) >= before
    assert found.pop(("deleted", "2.md", None)) >= before
    assert found == {}


def test_a_touch_or_a_second_run_is_no_edit(settings: Settings) -> None:
    at(settings.vault / "0.md", NOW)
    reindex(settings, FakeEmbedder())
    reindex(settings, FakeEmbedder())
    assert edits(settings) == []


def test_a_time_in_the_future_is_now(settings: Settings) -> None:
    at(write(settings, "0.md", "edited"), 4_000_000_000)
    reindex(settings, FakeEmbedder())
    assert edits(settings)[0].at <= time.time()


def test_a_run_that_is_undone_leaves_no_edit(settings: Settings) -> None:
    class Stop(Exception):
        pass

    with VaultIndex.open(settings, write=True) as index:
        with pytest.raises(Stop), index.database.write() as writer:
            journal.log(writer, Edit("0.md", NOW, "modified"))
            raise Stop
        assert journal.edits(index.database.read()) == []


def test_edits_are_found_by_part_of_a_path_also_of_the_old_one(
    connection: sqlite3.Connection,
) -> None:
    journal.log(connection, Edit("a/x.md", 1, "created"))
    journal.log(connection, Edit("b/x.md", 2, "renamed", "a/x.md"))
    journal.log(connection, Edit("c.md", 3, "modified"))
    assert [e.at for e in journal.edits(connection, path_has="a/")] == [2, 1]
    assert [e.at for e in journal.edits(connection, since=2)] == [3, 2]
    assert [e.at for e in journal.edits(connection, limit=1)] == [3]
    assert journal.edits(connection, path_has="%") == []


def test_the_same_edit_seen_twice_is_one(connection: sqlite3.Connection) -> None:
    journal.log(connection, Edit("a.md", 5, "modified"))
    journal.log(connection, Edit("a.md", 5, "modified"))
    assert journal.edits(connection) == [Edit("a.md", 5, "modified")]


def test_after_thirty_days_edits_of_a_day_become_one_row_with_their_number(
    connection: sqlite3.Connection,
) -> None:
    old = NOW - 40 * DAY
    start = old - old % DAY
    for minute in range(60):
        journal.log(connection, Edit("a.md", start + 60 * minute, "modified"))
        journal.log(connection, Edit("a.md", NOW - 60 * minute, "modified"))
    journal.log(connection, Edit("a.md", start, "created"))
    journal.log(connection, Edit("b.md", start + 1, "renamed", "a.md"))
    journal.prune(connection, NOW)
    found = journal.edits(connection)
    assert sum(e.edits for e in found) == 122
    assert [e for e in found if e.at < start + DAY] == [
        Edit("a.md", start + 59 * 60, "modified", edits=60),
        Edit("b.md", start + 1, "renamed", "a.md"),
        Edit("a.md", start, "created"),
    ]
    journal.prune(connection, NOW + DAY)
    assert journal.edits(connection) == found


def test_of_very_many_edits_the_oldest_go(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MOST_ROWS", 10)
    for moment in range(30):
        journal.log(connection, Edit("a.md", NOW + moment, "modified"))
    journal.prune(connection, NOW)
    assert [e.at for e in journal.edits(connection)] == [NOW + n for n in range(29, 19, -1)]


def test_an_index_of_the_first_version_is_given_its_journal(settings: Settings) -> None:
    with closing(sqlite3.connect(settings.state / "cache.sqlite")) as cache:
        cache.executescript("DROP TABLE journal; DROP TABLE id_changes; PRAGMA user_version = 1;")
    write(settings, "0.md", "edited")
    embedder = FakeEmbedder()
    assert reindex(settings, embedder).changed == 1
    assert len(embedder.texts) == 1
    assert [e.path for e in edits(settings)] == ["0.md"]
