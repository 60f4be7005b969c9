"""`make bench`: every figure that the README shows, in one run, each beside what it is held to.

    python tests/bench/run.py [--only NAME …] [--st-python PATH] [--update-readme]

Processor seconds where two programs are compared, and always in turn; wall seconds only where a
person waits. Takes about fifteen minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import vaults
from bench.processes import Cost, in_turn, machine, measure, median
from bench.services import started

ROOT = Path(__file__).parents[2]
KHIIPD = str(Path(sys.executable).with_name("khiipd"))
README = ROOT / "README.md"
START, END = "<!-- bench -->", "<!-- /bench -->"
QUESTION = "how did sailors find their way in the dark"


@dataclass(slots=True)
class Bench:
    """Where the figures are made and gathered: rows of (what, measured, held to)."""

    work: Path
    st_python: str | None
    rows: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "KHIIP_HOME": str(self.work / "home")}

    def say(self, what: str, measured: str, held_to: str = "") -> None:
        self.rows.append((what, measured, held_to))
        print(f"{what}: {measured}{f' ({held_to})' if held_to else ''}", flush=True)

    def khiipd(self, vault: Path, *words: str) -> Cost:
        """One command on a vault; 3 means that it finished and some notes have problems."""
        return measure([KHIIPD, "--vault", str(vault), *words], self.env, allowed=(0, 3))


def git(folder: Path, *words: str) -> list[str]:
    return ["git", "-c", "user.name=b", "-c", "user.email=b@example.org", "-C", str(folder), *words]


def small_vault(bench: Bench) -> Path:
    """10,000 small notes, indexed; made once."""
    vault = bench.work / "ten-thousand"
    if not vault.exists():
        vaults.make(vault, 10_000, 30)
        cost = bench.khiipd(vault, "reindex")
        bench.say(
            "Full index of 10,000 small notes",
            f"{cost.cpu:.0f} s of processor, peak {cost.peak:.0f} MiB",
        )
    return vault


def middle_vault(bench: Bench) -> Path:
    """1,400 notes of ordinary length, not indexed; made once."""
    vault = bench.work / "fourteen-hundred"
    if not vault.exists():
        vaults.make(vault, 1_400, 140)
    return vault


def embedding(bench: Bench) -> None:
    """Speed and quality of the model, by its own script."""
    rows = bench.work / "embedding.json"
    command = [sys.executable, str(Path(__file__).with_name("embedding.py")), "--rows", str(rows)]
    if bench.st_python:
        command += ["--st-python", bench.st_python]
    subprocess.run(command, check=True)
    bench.rows += [tuple(row) for row in json.loads(rows.read_text(encoding="utf-8"))]


def share(bench: Bench) -> None:
    """What of a full index is not the model."""
    code = Path(__file__).with_name("share.py")
    vault = middle_vault(bench)
    done = subprocess.run(
        [sys.executable, str(code), str(vault)],
        env=bench.env,
        check=True,
        capture_output=True,
        text=True,
    )
    figures = json.loads(done.stdout)
    part = 100 * (figures["total"] - figures["model"]) / figures["total"]
    bench.say(
        "Full index of 1,400 notes: everything but the model",
        f"{part:.1f} % of {figures['total']:.1f} s of processor",
        "goal: under 10 %",
    )
    bench.say(
        "The first 1,000 of them",
        f"text stored after {figures['text']:.1f} s, "
        f"every first vector after {figures['first_vectors']:.1f} s",
        "goals: 3 s and 82 s",
    )


def nothing_to_do(bench: Bench) -> None:
    """A reindex that finds nothing, beside `git status` on the same files."""
    vault = small_vault(bench)
    if not (vault / ".git").exists():
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "notes")):
            subprocess.run(git(vault, *words), check=True, env=bench.env)
        bench.khiipd(vault, "reindex")
    ours, theirs = in_turn(
        9,
        lambda: bench.khiipd(vault, "reindex"),
        lambda: measure(git(vault, "status", "--porcelain"), bench.env),
    )
    ratio = statistics.median(a.cpu / b.cpu for a, b in zip(ours, theirs, strict=True))
    bench.say(
        "No-op reindex of 10,000 notes",
        f"{ratio:.1f} times git status "
        f"({1000 * median(ours, 'cpu'):.0f} against {1000 * median(theirs, 'cpu'):.0f} ms "
        "of processor)",
        "goal: under 3 times",
    )


def warm_recall(bench: Bench) -> None:
    """A whole request at 10,000 captures beside embedding its query alone, query by query."""
    from khiip_indexer.embedder import MiniLM

    vault = small_vault(bench)
    embedder = MiniLM(cache_dir=bench.work / "home" / "cache")
    with started(vault, 8491, bench.env) as sidecar:
        sidecar.wait_until_ready()
        ratios, whole = [], []
        for number in range(60):
            query = f"{QUESTION}, sentence {number}"
            alone = timed(partial(embedder.embed, [query]))
            request = timed(partial(sidecar.recall, query, limit=10))
            ratios.append(request / alone)
            whole.append(1000 * request)
        peak = sidecar.peak()
    bench.say(
        "Warm GET /api/v1/recall at 10,000 captures",
        f"{statistics.median(ratios[10:]):.2f} times embedding the query alone, "
        f"median {statistics.median(whole[10:]):.1f} ms",
        "goal: under 2.5 times",
    )
    bench.say("Peak memory of serve at 10,000 captures", f"{peak:.0f} MiB", "goal: 350 MiB")


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def command_line(bench: Bench) -> None:
    """`khiipd recall` as a whole process, with a sidecar and without one."""
    vault = middle_vault(bench)
    bench.khiipd(vault, "reindex")
    imports = "import onnxruntime, tokenizers, hnswlib"
    alone, bare = in_turn(
        7,
        lambda: bench.khiipd(vault, "recall", QUESTION),
        lambda: measure([sys.executable, "-c", imports], bench.env),
    )
    ratio = statistics.median(a.cpu / b.cpu for a, b in zip(alone, bare, strict=True))
    bench.say(
        "khiipd recall at 1,400 notes, no sidecar",
        f"{ratio:.1f} times a bare import of its libraries "
        f"({1000 * median(alone, 'wall'):.0f} ms from start to end)",
        "goal: at most 3 times",
    )
    with started(vault, 8492, bench.env) as sidecar:
        sidecar.wait_until_ready()
        served = in_turn(9, lambda: bench.khiipd(vault, "recall", QUESTION))[0]
    bench.say(
        "khiipd recall at 1,400 notes, with a sidecar",
        f"{1000 * median(served, 'wall'):.0f} ms from start to end",
        "goal: at most 250 ms",
    )


def living(bench: Bench) -> None:
    """The index under edits and load, by its own script; last, since it spoils the vault."""
    rows = bench.work / "living.json"
    script = Path(__file__).with_name("living.py")
    vault = small_vault(bench)
    subprocess.run(
        [sys.executable, str(script), str(vault), "--rows", str(rows)], env=bench.env, check=True
    )
    bench.rows += [tuple(row) for row in json.loads(rows.read_text(encoding="utf-8"))]


def script(bench: Bench, name: str) -> None:
    """A part that is a program of its own."""
    rows = bench.work / f"{name}.json"
    path = Path(__file__).with_name(f"{name}.py")
    subprocess.run([sys.executable, str(path), "--rows", str(rows)], env=bench.env, check=True)
    bench.rows += [tuple(row) for row in json.loads(rows.read_text(encoding="utf-8"))]


PARTS: Mapping[str, Callable[[Bench], None]] = {
    "embedding": embedding,
    "share": share,
    "nothing": nothing_to_do,
    "warm": warm_recall,
    "cli": command_line,
    "retrieval": partial(script, name="retrieval"),
    "lexical": partial(script, name="lexical"),
    "history": partial(script, name="history"),
    "plugin": partial(script, name="plugin"),
    "tokens": partial(script, name="tokens"),
    "backfill": partial(script, name="backfill"),
    "living": living,
}


def table(bench: Bench) -> str:
    """The figures as the README shows them."""
    lines = [
        f"Measured on {machine()}.",
        "",
        "| what | measured | held to |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {what} | {measured} | {held_to} |" for what, measured, held_to in bench.rows]
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and on request write the README's table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--st-python", help="an interpreter with sentence-transformers")
    parser.add_argument("--update-readme", action="store_true")
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="khiip-bench-"))
    bench = Bench(work, options.st_python)
    try:
        for name in options.only:
            PARTS[name](bench)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"\n{table(bench)}")
    if options.update_readme:
        text = README.read_text(encoding="utf-8")
        before, _, rest = text.partition(START)
        README.write_text(
            f"{before}{START}\n{table(bench)}\n{END}{rest.partition(END)[2]}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
