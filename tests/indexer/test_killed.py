"""A process killed at any step costs time and nothing else."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import khiip_indexer
from equality import assert_equals_fresh, labels, live_labels
from indexing import found, reindex, settle, write
from khiip_indexer import graphs
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import vector_log
from khiip_indexer.sync import check, verify
from killing import run_in_child
from support import FakeEmbedder, make_vault

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

LONG = " ".join(f"word{n % 70}" for n in range(900))
KILLS = 60
GRAPH_KILLS = 18
TIMED_KILLS = 5


def notes(round_: int) -> dict[str, str]:
    """Three states of one vault: edits, moves, a chain, equal notes, deletions between them."""
    vault = {f"n{n}.md": f"note {n} of round {round_ if n % 3 else 0}" for n in range(70)}
    vault[f"moved{round_}.md"] = "the note that moves around"
    vault["long.md"] = f"{LONG} {round_}"
    vault["old.md"] = f"---\nid: shared\nsuperseded_by: n{round_}\n---\nan old plan"
    vault["copy.md"] = "---\nid: shared\ncreated: 2020-01-01\n---\nsame id" if round_ else "plain"
    if round_ == 2:
        vault = {path: text for path, text in vault.items() if not path.startswith("n6")}
    return vault


def lay(settings: Settings, round_: int) -> None:
    wanted = notes(round_)
    for path in settings.vault.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        path = settings.vault / name
        if not path.exists() or path.read_text() != text:
            write(settings, name, text)


def reindex_in_child(settings: Settings, at: int) -> tuple[int, int]:
    """(exit status, calls made) of a reindex in a child that dies at call `at`; 0: never."""
    return run_in_child(lambda: reindex(settings, FakeEmbedder()), at)


def everything(settings: Settings) -> list[tuple[object, ...]]:
    """All that answers depend on, in an order of its own."""
    with VaultIndex.open(settings) as index:
        connection = index.database.read()
        rows = connection.execute(
            "SELECT path, id, head_id, is_head, title, excerpt FROM captures ORDER BY path"
        ).fetchall()
        rows += connection.execute(
            "SELECT c.path, p.ordinal, p.text, v.orphaned_at, v.vector FROM passages p "
            "JOIN captures c USING (row) LEFT JOIN vectors v ON v.key = p.key ORDER BY 1, 2"
        ).fetchall()
        rows += connection.execute("SELECT path, code FROM problems ORDER BY 1, 2").fetchall()
        return rows


@pytest.mark.parametrize("round_", [0, 1, 2])
def test_a_kill_at_any_step_leaves_an_index_that_the_next_run_makes_whole(
    tmp_path: Path, round_: int
) -> None:
    reference = make_vault(tmp_path / "reference", {})
    for earlier in range(round_ + 1):
        lay(reference, earlier)
        settle(reference, FakeEmbedder())
    expected = everything(reference)
    settings = make_vault(tmp_path / "v", {})
    for earlier in range(round_):
        lay(settings, earlier)
        settle(settings, FakeEmbedder())
    lay(settings, round_)
    rng = random.Random(round_)
    _, calls = reindex_in_child(make_copy(settings, tmp_path / "count"), at=0)
    for number, at in enumerate(sorted(rng.sample(range(1, calls), KILLS // 3))):
        copy = make_copy(settings, tmp_path / f"kill{number}")
        status, _ = reindex_in_child(copy, at)
        assert os.WIFSIGNALED(status), "the child must have died"
        embedder = FakeEmbedder()
        had = vectors_of(copy)
        reindex(copy, embedder)
        assert had.isdisjoint(embedder.texts), "nothing that had its vector is embedded again"
        settle(copy, embedder)
        assert everything(copy) == expected
        with VaultIndex.open(copy) as index:
            assert verify(index) == []
            assert check(index).behind == 0
        assert found(copy, "note that moves") == found(reference, "note that moves")


@pytest.fixture
def graph_at_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph however small the vault is, saved at every run."""
    monkeypatch.setattr(graphs, "EXACT_LIMIT", -1)
    monkeypatch.setattr(vector_log, "_MANY", 0)
    monkeypatch.setattr(vector_log, "_PART", 1_000_000)


@pytest.mark.usefixtures("graph_at_every_run")
@pytest.mark.parametrize("seed", [7, 8])
def test_a_kill_while_the_graph_is_saved_or_compacted_serves_no_wrong_answer(
    tmp_path: Path, seed: int
) -> None:
    settings = make_vault(tmp_path / "from" / "v", {f"{n}.md": f"note {n}" for n in range(60)})
    reindex(settings, FakeEmbedder())
    for n in range(45):
        write(settings, f"{n}.md", f"edited {n}")  # most slots are dead: the graph is built anew
    (settings.vault / "50.md").unlink()
    rng = random.Random(seed)
    _, calls = reindex_in_child(make_copy(settings, tmp_path / "count" / "v"), at=0)
    # The graph is built and saved in the last part of a run.
    chosen = rng.sample(range(1, calls), GRAPH_KILLS // 3)
    chosen += rng.sample(range(calls * 3 // 4, calls), GRAPH_KILLS * 2 // 3)
    for number, at in enumerate(chosen):
        copy = make_copy(settings, tmp_path / f"kill{number}" / "v")
        status, _ = reindex_in_child(copy, at)
        assert os.WIFSIGNALED(status), "the child must have died"
        assert_serves_only_what_is_stored(copy)
        had = vectors_of(copy)
        embedder = FakeEmbedder()
        reindex(copy, embedder)
        assert had.isdisjoint(embedder.texts)
        assert_equals_fresh(copy, FakeEmbedder())


def assert_serves_only_what_is_stored(settings: Settings) -> None:
    """Before any repair, a reader finds what SQLite says can be found, and nothing else."""
    with VaultIndex.open(settings) as index:
        model = FakeEmbedder().identity
        index.graphs.load(model)
        stored = live_labels(index.database.read(), model.key)
        assert labels(index.graphs.current()) == stored


LOOP = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from khiip_indexer import graphs
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import vector_log
from khiip_indexer.storage import vector_log
from khiip_indexer.sync import Syncer
from support import FakeEmbedder, make_vault
graphs.EXACT_LIMIT, vector_log._MANY, vector_log._PART = -1, 0, 1_000_000
settings = make_vault(Path(sys.argv[2]), {})
with VaultIndex.open(settings, write=True) as index:
    syncer = Syncer(index, FakeEmbedder())
    print("up", flush=True)
    for turn in range(10_000):
        for n in range(20):
            (settings.vault / f"{(turn + n) % 60}.md").write_text(f"turn {turn} of {n}")
        syncer.run()
        print(turn, flush=True)
"""


def test_a_process_killed_at_any_time_is_followed_by_one_that_goes_on(tmp_path: Path) -> None:
    settings = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(60)})
    rng = random.Random(11)
    for _ in range(TIMED_KILLS):
        command = [sys.executable, "-c", LOOP, str(Path(__file__).parents[1]), str(settings.vault)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for _ in range(rng.randint(1, 8)):
                process.stdout.readline()
            time.sleep(rng.random() / 20)
            process.kill()
        assert_serves_only_what_is_stored(settings)
    assert_equals_fresh(settings, FakeEmbedder())


def make_copy(settings: Settings, target: Path) -> Settings:
    """The vault and its index elsewhere, file times and all."""
    import shutil

    shutil.copytree(settings.vault, target, copy_function=shutil.copy2)
    return make_vault(target, {})


def vectors_of(settings: Settings) -> set[str]:
    if not (settings.state / "cache.sqlite").exists():
        return set()
    try:
        with VaultIndex.open(settings) as index:
            rows = index.database.read().execute(
                "SELECT p.text FROM passages p JOIN vectors v ON v.key = p.key"
            )
            return {text for (text,) in rows}
    except khiip_indexer.errors.IndexMissing:
        return set()
