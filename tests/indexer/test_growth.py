"""However long it is used, an index stays as large as its vault asks for."""

from __future__ import annotations

import os
import time
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from equality import assert_equals_fresh
from indexing import reindex, write
from khiip_indexer import graphs
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import access_rows, journal, pruning
from khiip_indexer.storage.accesses import ACCESS_FILE, AccessLog
from khiip_indexer.sync import Syncer
from khiip_indexer.vectors import Graph
from support import FakeEmbedder, make_vault

DAY = 24 * 3600


def size(settings: Settings) -> int:
    return sum(path.stat().st_size for path in settings.state.iterdir())


def count(index: VaultIndex, table: str) -> int:
    return int(index.database.read().execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])


@pytest.mark.parametrize("near", ["exact", "graph"])
def test_very_many_edits_of_one_note_leave_size_and_memory_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, near: str
) -> None:
    if near == "graph":
        monkeypatch.setattr(graphs, "EXACT_LIMIT", -1)
    monkeypatch.setattr(pruning, "KEEP_ORPHANS", 100)
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(50)})
    embedder = FakeEmbedder()
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder)
        syncer.run()
        index.graphs.load(embedder.identity)

        def edit(turns: range) -> None:
            for turn in turns:
                write(settings, "0.md", f"edit number {turn}")
                syncer.run(paths=["0.md"])
                if turn % 50 == 0:
                    syncer.run()  # the reconcile that comes now and then
            embedder.texts.clear()

        edit(range(200))
        large = size(settings)
        tracemalloc.start()
        edit(range(200, 300))
        before, _ = tracemalloc.get_traced_memory()
        edit(range(300, 600))
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        syncer.run()
        assert count(index, "vectors") < 250
        assert count(index, "vector_changes") < 900
        current = index.graphs.current()
        assert isinstance(current, Graph) == (near == "graph")
        assert getattr(current, "elements", 0) < 150
    assert after - before < 500_000
    assert size(settings) < 1.5 * large
    assert_equals_fresh(settings, embedder)


def test_orphans_stay_for_a_while_and_never_outnumber_what_is_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "KEEP_ORPHANS", 10)
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(100)})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    for n in range(60):
        write(settings, f"{n}.md", f"edited {n}")
    reindex(settings, embedder)
    with VaultIndex.open(settings) as index:
        assert count(index, "vectors") == 160  # a branch of sixty notes may come back
    later = datetime.fromtimestamp(time.time() + 100 * DAY, UTC)
    write(settings, "99.md", "edited, too")
    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder, clock=lambda: later).run()
        assert count(index, "vectors") == 110
    assert_equals_fresh(settings, embedder)


def test_another_model_s_vectors_are_kept_for_thirty_days(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(10)})
    reindex(settings, FakeEmbedder())
    another = FakeEmbedder(name="another")
    for days, kept in ((0, 20), (29, 20), (31, 10)):
        later = datetime.fromtimestamp(time.time() + days * DAY, UTC)
        write(settings, "0.md", f"note 0 after {days} days")
        with VaultIndex.open(settings, write=True) as index:
            Syncer(index, another, clock=lambda: later).run()  # noqa: B023
            sql = "SELECT COUNT(*) FROM vectors WHERE model = ?"
            mine = index.database.read().execute(sql, (FakeEmbedder().identity.key,)).fetchone()[0]
            assert mine == kept - 10
    assert_equals_fresh(settings, another)


def test_failures_of_texts_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {"bad.md": "poison", "good.md": "fine"})
    embedder = FakeEmbedder(fail_on=lambda text: "poison" in text)
    reindex(settings, embedder)
    write(settings, "bad.md", "cured")
    reindex(settings, embedder)
    with VaultIndex.open(settings) as index:
        assert count(index, "failures") == 0


def test_room_is_given_back_when_most_of_the_vault_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "_FREE_BYTES", 64 * 1024)
    text = "the same words over and over " * 300
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n} {text}" for n in range(60)})
    embedder = FakeEmbedder()
    reindex(settings, embedder)
    large = (settings.state / "cache.sqlite").stat().st_size
    for n in range(55):
        (settings.vault / f"{n}.md").unlink()
    reindex(settings, embedder, accept_deletions=True)
    assert (settings.state / "cache.sqlite").stat().st_size < large / 2
    assert_equals_fresh(settings, embedder)


def test_a_hundred_thousand_accesses_stay_small(tmp_path: Path) -> None:
    log = AccessLog(tmp_path)
    ids = [f"{n:026}" for n in range(100)]
    for turn in range(1000):
        log.record(ids, at=turn)
    assert sum(tally.count for tally in log.tallies().values()) == 100_000
    log.close()
    most = 100 * 2 * access_rows.KEEP * 100  # captures, rows of each, bytes of a row
    assert (tmp_path / ACCESS_FILE).stat().st_size < most


def test_a_week_of_edits_every_hour_is_a_few_rows_once_it_is_old(tmp_path: Path) -> None:
    notes = [f"{n}.md" for n in range(5)]
    settings = make_vault(tmp_path / "v", dict.fromkeys(notes, "new"))
    embedder = FakeEmbedder()
    start = int(time.time()) // DAY * DAY - 80 * DAY
    with VaultIndex.open(settings, write=True) as index:
        now = start
        syncer = Syncer(index, embedder, clock=lambda: datetime.fromtimestamp(now, UTC))
        syncer.run()
        for hour in range(7 * 24):
            now = start + hour * 3600
            for path in notes:
                os.utime(write(settings, path, f"hour {hour} of {path}"), (now, now))
            syncer.run(paths=notes)
        assert len(journal.edits(index.database.read())) == 7 * 24 * 5
        now = start + 50 * DAY
        os.utime(write(settings, "0.md", "much later"), (now, now))
        syncer.run()
        found = journal.edits(index.database.read())
        assert len(found) == 7 * 5 + 1
        assert sum(edit.edits for edit in found) == 7 * 24 * 5 + 1
