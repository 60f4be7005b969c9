"""What a change of the embedder costs: beside a full reindex, and for those who search meanwhile.

    python tests/bench/backfill.py [--rows FILE] [--notes 1400]

Both models are MiniLM by the same graph, once from the installation and once from a folder whose
tokenizer is written otherwise: two identities that cost the same. Processor seconds where the
two runs are compared; wall seconds where a person waits.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import vaults
from bench.processes import Cost, measure
from bench.services import PROGRAM, Sidecar, started

PORT = 8494
QUESTIONS = [f"how did sailors find their way in the dark, sentence {n}" for n in range(40)]
Row = tuple[str, str, str]


def export(folder: Path) -> Path:
    """The installed weights in a folder of their own, with a tokenizer in another form."""
    from khiip_indexer.model.files import packaged_files
    from khiip_indexer.model.wordpieces import WordPieces

    files = packaged_files()
    folder.mkdir()
    shutil.copy(files.model, folder / "model.onnx")
    WordPieces(files.vocabulary).tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def environment(work: Path, folder: Path, *, other: bool) -> dict[str, str]:
    """A home whose config names the one model or the other."""
    home = work / ("home-other" if other else "home")
    (home / "config").mkdir(parents=True, exist_ok=True)
    table = f'[embedder]\nkind = "onnx"\npath = "{folder}"\n' if other else ""
    (home / "config" / "config.toml").write_text(table, encoding="utf-8")
    return {**os.environ, "KHIIP_HOME": str(home)}


def reindex(vault: Path, env: dict[str, str]) -> Cost:
    """One headless run; 3 means that some notes have problems."""
    return measure([PROGRAM, "--vault", str(vault), "reindex"], env, allowed=(0, 3))


def cost(vault: Path, first: dict[str, str], other: dict[str, str], notes: int) -> Row:
    """A full index by the other model, then one by the first, then the change to the other."""
    shutil.rmtree(vault / ".khiip", ignore_errors=True)
    full = reindex(vault, other)
    shutil.rmtree(vault / ".khiip")
    reindex(vault, first)
    backfill = reindex(vault, other)
    return (
        f"Change of the embedder at {notes:,} notes",
        f"{backfill.cpu / full.cpu:.2f} times a full reindex "
        f"({backfill.cpu:.1f} against {full.cpu:.1f} s of processor)",
        "goal: at most 1.1 times",
    )


def latency(vault: Path, first: dict[str, str], other: dict[str, str]) -> Row:
    """Searches while the change is under way beside the same ones when it is done."""
    shutil.rmtree(vault / ".khiip")
    reindex(vault, first)
    with started(vault, PORT, other) as sidecar:
        wait_for_coming(sidecar)
        during = waits(sidecar)
        if sidecar.get("/api/v1/meta")["embedder"]["coming"] is None:
            raise RuntimeError("the change was over before the searches were: give more notes")
        sidecar.wait_until_ready()
        idle = waits(sidecar)
    busy, quiet = statistics.median(during), statistics.median(idle)
    return (
        "Recall while the embedder is changed",
        f"{busy / quiet:.2f} times idle (median {1000 * busy:.1f} against {1000 * quiet:.1f} ms)",
        "goal: at most 2 times",
    )


def wait_for_coming(sidecar: Sidecar) -> None:
    """Until vectors of the other model are being made."""
    for _ in range(600):
        coming = sidecar.get("/api/v1/meta")["embedder"]["coming"]
        if coming and coming["done"]:
            return
        time.sleep(0.05)
    raise RuntimeError("the change did not begin")


def waits(sidecar: Sidecar) -> list[float]:
    """Seconds of each search, after a few that warm up."""
    found = []
    for question in (*QUESTIONS[:5], *QUESTIONS):
        began = time.perf_counter()
        sidecar.recall(question, limit=10)
        found.append(time.perf_counter() - began)
        time.sleep(0.02)
    return found[5:]


def main() -> None:
    """Measure, print, and write rows for `make bench`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--notes", type=int, default=1400)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="khiip-backfill-") as folder:
        work = Path(folder)
        vaults.make(work / "vault", options.notes, 140)
        model = export(work / "model")
        first, other = (environment(work, model, other=is_other) for is_other in (False, True))
        rows = [
            cost(work / "vault", first, other, options.notes),
            latency(work / "vault", first, other),
        ]
    for row in rows:
        print(": ".join(row[:2]), f"({row[2]})", flush=True)
    if options.rows:
        options.rows.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
