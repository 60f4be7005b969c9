"""A sidecar, hooks and readers on one vault at once: no lock is met, nothing is counted twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from equality import assert_equals_fresh
from indexing import reindex
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_sidecar.client import find_sidecar
from support import FakeEmbedder, make_vault

TESTS = str(Path(__file__).parents[1])
SECONDS = 5.0

SETUP = """
import sys, time, random
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from support import FakeEmbedder, make_vault, word_vector
import khiip_indexer.embedder
khiip_indexer.embedder.MiniLM = lambda *_, **__: FakeEmbedder()
vault, until = Path(sys.argv[2]), time.time() + float(sys.argv[3])
"""

SERVE = (
    SETUP
    + """
from khiip_sidecar.daemon import serve
serve(make_vault(vault, {}), "127.0.0.1", 0, embedder=FakeEmbedder())
"""
)

HOOK = (
    SETUP
    + """
import json
from click.testing import CliRunner
from khiip_sidecar.cli.main import khiipd
while time.time() < until:
    result = CliRunner().invoke(khiipd, ["--vault", str(vault), "reindex"])
    print(json.dumps([result.exit_code, result.output]))
    time.sleep(0.2)
"""
)

READER = (
    SETUP
    + """
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
settings = make_vault(vault, {})
count = 0
with VaultIndex.open(settings) as index:
    while time.time() < until:
        ranking = index.search(word_vector("note"), Filters(), limit=3)
        ids = [hit.record.id for hit in ranking.hits]
        assert len(set(ids)) == len(ids) == 3, ids
        index.record_access(ids)
        count += len(ids)
        time.sleep(0.01)
print(count)
"""
)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("KHIIP_HOME", str(tmp_path / "v-home"))
    made = make_vault(tmp_path / "v", {f"{n}.md": f"note {n}" for n in range(100)})
    reindex(made, FakeEmbedder())
    return made


def start(settings: Settings, script: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, TESTS, str(settings.vault), str(SECONDS)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=dict(os.environ))


def wait_for_sidecar(settings: Settings) -> None:
    for _ in range(600):
        if (sidecar := find_sidecar(settings)) and sidecar.health()["state"] == "ready":
            return
        time.sleep(0.05)
    raise AssertionError("the sidecar did not come up")


def edit_while(settings: Settings, processes: list[subprocess.Popen[str]]) -> list[str]:
    """Edit notes until the others have ended by themselves; gives what each of them said."""
    turn = 0
    while any(process.poll() is None for process in processes):
        (settings.vault / f"{turn % 100}.md").write_text(f"note {turn} edited")
        (settings.vault / f"new{turn % 7}.md").write_text(f"note {turn} new")
        turn += 1
        time.sleep(0.02)
    said = []
    for process in processes:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        said.append(out)
    return said


def codes(said: str) -> set[int]:
    """The exit codes of a hook's runs; none of them met a lock of SQLite."""
    runs = [json.loads(line) for line in said.splitlines()]
    assert not [output for _, output in runs if "locked" in output or "Traceback" in output]
    return {code for code, _ in runs}


def test_a_sidecar_hooks_readers_and_edits_at_once(settings: Settings) -> None:
    server = start(settings, SERVE)
    try:
        wait_for_sidecar(settings)
        scripts = (HOOK, HOOK, READER, READER, READER)
        said = edit_while(settings, [start(settings, script) for script in scripts])
    finally:
        server.terminate()
        out, err = server.communicate(timeout=20)
    assert server.returncode == 0, err
    assert "locked" not in out + err
    assert "Traceback" not in out + err
    assert codes(said[0]) | codes(said[1]) == {0}
    with VaultIndex.open(settings) as index:
        counted = sum(tally.count for tally in index.accesses().values())
    assert counted == sum(int(count) for count in said[2:])
    assert_equals_fresh(settings, FakeEmbedder())


def test_two_hooks_at_once_and_no_sidecar_do_not_fight(settings: Settings) -> None:
    said = edit_while(settings, [start(settings, HOOK) for _ in range(2)])
    assert codes(said[0]) | codes(said[1]) <= {0, 5}
    assert_equals_fresh(settings, FakeEmbedder())
