"""A process killed at any step costs time and nothing else."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path
from types import FrameType

import pytest

import khiip_indexer
from indexing import found, reindex, settle, write
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer, check, verify
from support import FakeEmbedder, make_vault

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

PACKAGE = str(Path(khiip_indexer.__file__).parent)
LONG = " ".join(f"word{n % 70}" for n in range(900))
KILLS = 60


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


class Killer:
    """Counts calls made inside the package and ends the process at the chosen one."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(PACKAGE):
            self.count += 1
            if self.count == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


def run_in_child(settings: Settings, at: int) -> tuple[int, int]:
    """(exit status, calls made) of a reindex in a child that dies at call `at`; 0: never."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        killer = Killer(at)
        try:
            sys.setprofile(killer)
            with VaultIndex.open(settings, write=True) as index:
                Syncer(index, FakeEmbedder()).run()
        finally:
            sys.setprofile(None)
            os.write(writer, str(killer.count).encode())
            os._exit(0)
    os.close(writer)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader) as pipe:
        return status, int(pipe.read() or 0)


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
    _, calls = run_in_child(make_copy(settings, tmp_path / "count"), at=0)
    for number, at in enumerate(sorted(rng.sample(range(1, calls), KILLS // 3))):
        copy = make_copy(settings, tmp_path / f"kill{number}")
        status, _ = run_in_child(copy, at)
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
