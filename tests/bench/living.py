"""How an index follows a vault that changes while it is asked: the figures of `serve`.

    python tests/bench/living.py VAULT [--rows FILE] [--edits 200] [--seconds 120]

VAULT is a vault of 10,000 indexed notes made by `tests/bench/vaults.py`; it is edited. A real
sidecar on a loopback port is asked by real clients; every load is bounded in count and time.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import vaults
from bench.services import Sidecar, started

PORT = 8493
PATIENCE_SECONDS = 30.0
Row = tuple[str, str, str]


def percentile(values: list[float], share: float) -> float:
    """The value below which that share of them lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def edit_to_recall(sidecar: Sidecar, vault: Path, edits: int) -> Row:
    """From the end of a write until the service gives the new text."""
    notes = sorted(vault.rglob("*.md"))
    rng = random.Random(3)
    waits = []
    for number in range(edits):
        note = rng.choice(notes)
        mark = f"edit number {number} of {rng.randrange(10**9)}"
        note.write_text(f"---\ntitle: {note.stem}\n---\n{mark}\n", encoding="utf-8")
        began = time.perf_counter()
        wait_until(lambda note=note, mark=mark: has(sidecar, vault, note, mark))  # type: ignore[misc]
        waits.append(time.perf_counter() - began)
        time.sleep(0.05)
    return (
        f"Edit to recall at 10,000 notes, {edits} edits",
        f"median {1000 * statistics.median(waits):.0f} ms, "
        f"95th percentile {1000 * percentile(waits, 0.95):.0f} ms",
        "goal: within a second",
    )


def has(sidecar: Sidecar, vault: Path, note: Path, mark: str) -> bool:
    """Whether a recall for the mark brings this note with its new text."""
    path = note.relative_to(vault).as_posix()
    # Many edits read alike to the model: only in its own folder is the new one sure to be near.
    folder = path.rpartition("/")[0]
    answer = sidecar.get("/api/v1/recall", q=mark, folder=folder, limit="50", view="lean")
    rows = answer["results"]
    return any(row["vault_path"] == path and mark in row["excerpt"] for row in rows)


def wait_until(true: Callable[[], bool]) -> None:
    end = time.perf_counter() + PATIENCE_SECONDS
    while not true():
        if time.perf_counter() > end:
            raise RuntimeError("the index did not follow in time")
        time.sleep(0.005)


def burst(sidecar: Sidecar, vault: Path, work: Path) -> Row:
    """2,000 changed files at once, beside a full index of as many notes."""
    notes = sorted(vault.rglob("*.md"))[:2000]
    pool = vaults.sentences()
    rng = random.Random(4)
    for number, note in enumerate(notes):
        text = " ".join(rng.choice(pool) for _ in range(3))
        note.write_text(f"---\ntitle: b{number}\n---\n{text} Burst {number}.\n", encoding="utf-8")
    began = time.perf_counter()
    last = notes[-1]
    wait_until_quiet(sidecar, lambda: has_text(sidecar, vault, last, "Burst 1999."))
    took = time.perf_counter() - began
    fresh = vaults.copy_of(notes, work / "burst")
    began = time.perf_counter()
    subprocess.run(
        [sidecar.program, "--vault", str(fresh), "reindex"],
        env=sidecar.env,
        check=True,
        capture_output=True,
    )
    full = time.perf_counter() - began
    return (
        "2,000 files changed at once, until all are found by meaning",
        f"{took:.1f} s, against {full:.1f} s for a full index of the same notes",
        "",
    )


def has_text(sidecar: Sidecar, vault: Path, note: Path, mark: str) -> bool:
    """Whether the note is served with this text."""
    path = note.relative_to(vault).as_posix()
    folder = path.rpartition("/")[0]
    rows = sidecar.get("/api/v1/captures", folder=folder, limit="1000", view="lean")
    return any(row["vault_path"] == path and mark in row["excerpt"] for row in rows)


def wait_until_quiet(sidecar: Sidecar, true: Callable[[], bool]) -> None:
    """Until the condition holds and the service has nothing left to embed."""
    end = time.perf_counter() + 5 * PATIENCE_SECONDS
    while time.perf_counter() < end:
        if sidecar.state() == "ready" and sidecar.pending() == 0 and true():
            return
        time.sleep(0.1)
    raise RuntimeError("the burst was not taken in")


def latencies(sidecar: Sidecar, count: int) -> list[float]:
    """Milliseconds of `count` recalls, one after the other."""
    found = []
    for number in range(count):
        began = time.perf_counter()
        sidecar.recall(f"what was written about the sea, part {number}", limit=10)
        found.append(1000 * (time.perf_counter() - began))
    return found


def while_embedding(sidecar: Sidecar, vault: Path) -> Row:
    """Recall while 5,000 passages are embedded, against recall when nothing else happens."""
    idle = latencies(sidecar, 200)
    pool = vaults.sentences()
    rng = random.Random(5)
    for number in range(250):
        text = "\n\n".join(rng.choice(pool) for _ in range(200))
        (vault / f"long {number}.md").write_text(f"# Long {number}\n\n{text}\n", encoding="utf-8")
    wait_until(lambda: sidecar.state() == "indexing")
    busy: list[float] = []
    while sidecar.state() == "indexing" and len(busy) < 2000:
        busy += latencies(sidecar, 10)
    ratio = statistics.median(busy) / statistics.median(idle)
    return (
        "Recall while 5,000 passages are embedded",
        f"{ratio:.1f} times idle ({statistics.median(busy):.1f} against "
        f"{statistics.median(idle):.1f} ms, {len(busy)} requests)",
        "goal: at most 3 times",
    )


def throughput(sidecar: Sidecar, seconds: float) -> list[Row]:
    """Requests a second with 1, 4 and 16 clients; any error ends the run."""
    rows = []
    for clients in (1, 4, 16):
        counts = [0] * clients
        failures: list[BaseException] = []
        end = time.perf_counter() + seconds

        load = partial(asking, sidecar, counts, failures, end)
        threads = [threading.Thread(target=load, args=(place,)) for place in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise RuntimeError(f"a recall failed under load: {failures[0]}")
        rows.append(
            (f"Warm recall, {clients} clients", f"{sum(counts) / seconds:.0f} a second", "no error")
        )
    return rows


def asking(
    sidecar: Sidecar, counts: list[int], failures: list[BaseException], end: float, place: int
) -> None:
    """One client: asks until `end`, counts its answers, and keeps what went wrong."""
    own = sidecar.another()
    try:
        while time.perf_counter() < end:
            own.recall(f"question {place} {counts[place]}", limit=10)
            counts[place] += 1
    except BaseException as error:  # noqa: BLE001 -- told by the caller
        failures.append(error)


@contextmanager
def clients(sidecar: Sidecar, count: int) -> Iterator[None]:
    """That many clients asking all the while."""
    done = threading.Event()

    def ask(place: int) -> None:
        own = sidecar.another()
        number = 0
        while not done.is_set():
            own.recall(f"load {place} {number}", limit=10)
            number += 1
            time.sleep(0.02)

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def mixed_load(sidecar: Sidecar, vault: Path, seconds: float) -> Row:
    """Memory at the start and at the end of edits, deletions and recalls together."""
    before = sidecar.resident()
    notes = sorted(vault.rglob("note *.md"))
    rng = random.Random(6)
    end = time.perf_counter() + seconds
    changes = 0
    with clients(sidecar, 4):
        while time.perf_counter() < end:
            note = rng.choice(notes)
            text = f"mixed load {changes} {rng.random()}\n"
            note.write_text(text, encoding="utf-8")
            changes += 1
            time.sleep(0.05)
    after = sidecar.resident()
    return (
        f"Memory over {seconds:.0f} s of mixed load ({changes} edits, 4 clients)",
        f"{before:.0f} MiB before, {after:.0f} MiB after, peak {sidecar.peak():.0f} MiB",
        "goal: 350 MiB",
    )


def main() -> None:
    """Measure and print; with --rows also write the README's rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120.0)
    options = parser.parse_args()
    vault: Path = options.vault.resolve()
    rows: list[Row] = []

    def add(*more: Row) -> None:
        for row in more:
            rows.append(row)
            print(": ".join(part for part in row if part), flush=True)

    with started(vault, PORT) as sidecar:
        add(
            (
                "First answer after a cold start at 10,000 notes",
                f"/health after {sidecar.health_seconds:.2f} s, "
                f"recall after {sidecar.answer_seconds:.2f} s",
                "goal for /health: 1 s",
            )
        )
        sidecar.wait_until_ready()
        add(edit_to_recall(sidecar, vault, options.edits))
        add(burst(sidecar, vault, vault.parent))
        add(*throughput(sidecar, 10))
        add(while_embedding(sidecar, vault))
        sidecar.wait_until_ready()
        add(mixed_load(sidecar, vault, options.seconds))
    if options.rows:
        options.rows.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
