"""Connections to the cache: each thread has its own, and takes it along when it ends."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from indexing import reindex
from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters
from khiip_indexer.storage.database import DATABASE_FILE
from support import FakeEmbedder, make_vault

DESCRIPTORS = Path("/proc/self/fd")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = make_vault(tmp_path / "v", {"1.md": "a note"})
    reindex(made, FakeEmbedder())
    return made


def held(settings: Settings) -> int:
    """How often this process has the cache's file open."""
    cache = str(settings.state / DATABASE_FILE)
    return sum(str(each.readlink()) == cache for each in DESCRIPTORS.iterdir() if each.is_symlink())


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="needs /proc")
def test_a_thread_that_has_ended_leaves_no_connection_behind(settings: Settings) -> None:
    with VaultIndex.open(settings) as index:
        assert index.total(Filters()) == 1
        counted = []
        for _ in range(5):
            thread = threading.Thread(target=index.total, args=(Filters(),))
            thread.start()
            thread.join()
            counted.append(held(settings))
        # SQLite keeps one closed file open for whoever opens it next, while others hold locks.
        assert max(counted) <= 2
    assert held(settings) == 0
