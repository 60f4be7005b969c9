"""One full index in this process: how much of it is the model, and when what is there.

    python tests/bench/share.py VAULT

Prints JSON: processor seconds in all and inside the model; wall seconds from the start until the
text of 1,000 notes was stored and until 1,000 notes had their first vector.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from khiip_indexer.config import Overrides, load_settings
from khiip_indexer.embedder import MiniLM
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Progress
from khiip_indexer.sync import Syncer

NOTES = 1_000


class Timed(MiniLM):
    """The real embedder, its processor seconds counted."""

    spent = 0.0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started = time.process_time()
        vectors = super().embed(texts)
        self.spent += time.process_time() - started
        return vectors


def main() -> None:
    """Index the vault from nothing and print what it took."""
    settings = load_settings(Overrides(vault=sys.argv[1]))
    shutil.rmtree(settings.state, ignore_errors=True)
    embedder = Timed(cache_dir=settings.homes.cache)
    embedder.embed(["the graph is made at first use, once a machine"])
    embedder.spent = 0.0
    reached: dict[str, float] = {}
    wall, cpu = time.perf_counter(), time.process_time()

    def watch(progress: Progress) -> None:
        if progress.phase in ("read", "first_vectors") and progress.done >= NOTES:
            reached.setdefault(progress.phase, time.perf_counter() - wall)

    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder).run(progress=watch)
    figures = {
        "total": time.process_time() - cpu,
        "model": embedder.spent,
        "text": reached["read"],
        "first_vectors": reached["first_vectors"],
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
