"""How well and how fast recall finds: by meaning, by words and by both.

    python tests/bench/retrieval.py [--rows FILE] [--passages 10000 100000]

Quality is measured on the judged collections of $KHIIP_SHARED, where there are any, through the
whole index and with what the service does by default. Speed is processor time of one warm recall
in the process, kinds in turn; vectors of the large vaults are drawn at random, for how long a
search takes does not depend on what they mean, and only queries are given to the model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import vaults
from khiip_indexer.config import Overrides, load_settings
from khiip_indexer.embedder import MiniLM
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_indexer.types import ModelIdentity, Spans
from khiip_sidecar.evaluation.collection import read_collection
from khiip_sidecar.evaluation.measures import mean
from khiip_sidecar.evaluation.run import Setting, evaluate
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("KHIIP_SHARED", ROOT.parent / "shared"))
KINDS = ("semantic", "lexical", "hybrid")
GOALS = {
    ("cranfield", "nDCG@10"): "goal for both: 0.545",
    ("cisi", "nDCG@10"): "goal for both: 0.46",
    ("jaquad", "recall@10"): "goal for both: 0.97",
}
COLLECTIONS = ("cranfield", "cisi", "jaquad")
VERBATIM = {"English": "cranfield", "Japanese": "jaquad", "Chinese": "garden-zh"}
SAMPLES = 200
QUERIES = (
    "how did sailors find their way in the dark",
    "growing vegetables on a barren island",
    "what did we agree on about the contour layer",
    "tide tables",
    "a second set of keys",
    "harbour lights seen from the sea",
)
ROUNDS = 20
FRESH = 120
SHORT = ("q", "ke", "海")
PER_NOTE = 5
Row = tuple[str, str, str]


@contextmanager
def opened(vault: Path, home: Path) -> Iterator[Operations]:
    """A vault, indexed, with what answers from it."""
    settings = load_settings(Overrides(vault=str(vault)), {"KHIIP_HOME": str(home)})
    embedder = MiniLM(cache_dir=settings.homes.cache)
    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder).run()
        yield Operations(RecallService(index, embedder))


def quality(work: Path) -> Iterator[Row]:
    """nDCG@10 and recall@10 of each kind on each collection; a sentence as it stands, by rank."""
    for name in COLLECTIONS:
        folder = SHARED / "collections" / name
        if not folder.exists():
            continue
        with opened(copied(folder / "vault", work / name), work / "home") as operations:
            collection = read_collection(folder)
            settings = [Setting(kind, "relevance") for kind in KINDS]
            outcomes = evaluate(operations, collection.queries, settings, 50)
        means = [mean([each.scores[at] for each in outcomes]) for at in range(len(KINDS))]
        for measure in ("nDCG@10", "recall@10"):
            figures = zip(KINDS, means, strict=True)
            said = ", ".join(f"{kind} {each[measure]:.3f}" for kind, each in figures)
            yield f"{name}: {measure}", said, GOALS.get((name, measure), "")
    yield from verbatim(work)


def copied(source: Path, target: Path) -> Path:
    """A vault of our own: what was given is not written to."""
    if not target.exists():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns(".khiip"))
        (target / ".obsidian").mkdir(exist_ok=True)
    return target


def verbatim(work: Path) -> Iterator[Row]:
    """How often a sentence of a note brings the note first, with both kinds of match."""
    for language, name in VERBATIM.items():
        folder = SHARED / ("vaults" if name == "garden-zh" else "collections") / name
        source = folder if name == "garden-zh" else folder / "vault"
        if not source.exists():
            continue
        with opened(copied(source, work / name), work / "home") as operations:
            found = [is_first(operations, *each) for each in sentences(operations)]
        yield (
            f"A sentence of a note, {language}: its note comes first",
            f"{sum(found)} of {len(found)}",
            "goal: all",
        )


def sentences(operations: Operations) -> list[tuple[str, str]]:
    """(text, sentence) of notes drawn at random; the sentence stands in one block of the note."""
    rng = random.Random(5)
    drawn: list[tuple[str, str]] = []
    records = operations.captures({"limit": ["1000"], "view": ["full"]})
    rng.shuffle(records)
    for record in records:
        text = str((record["payload"] or {}).get("body_text") or "")
        lines = [line for line in text.split("\n") if len(line) >= 30]
        if lines and len(drawn) < SAMPLES:
            drawn.append((text, cut(rng.choice(lines))))
    return drawn


def cut(line: str) -> str:
    """The first sentence of a line, or the line."""
    for end in ("。", ". "):
        head, mark, _ = line.partition(end)
        if mark and len(head) >= 12:
            return head
    return line[:200]


def is_first(operations: Operations, text: str, sentence: str) -> bool:
    """Whether a note that holds the sentence is the first hit; it may stand in several.

    In a list of links it is often the title of another note, and that one is as right.
    """
    answer = operations.recall(
        {"q": [plain(sentence)], "match": ["hybrid"], "limit": ["1"], "mark_accessed": ["false"]}
    )
    if not answer["results"]:
        return False
    first = answer["results"][0]["capture"]
    return sentence == first["title"] or sentence in str(
        (first["payload"] or {}).get("body_text") or ""
    )


def plain(sentence: str) -> str:
    """The sentence without signs that are operators of a query."""
    return sentence.replace('"', " ").replace("[", " ").replace("]", " ").replace(":", " ")


class Drawn:
    """The model for queries; for everything else a vector drawn by the text's hash."""

    def __init__(self, model: MiniLM, questions: Collection[str]) -> None:
        self._model = model
        self.questions = frozenset(questions)

    @property
    def identity(self) -> ModelIdentity:
        return self._model.identity

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(texts) == 1 and texts[0] in self.questions:
            return self._model.embed(texts)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        drawn = np.random.default_rng(seed).standard_normal(self.identity.dimension)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)

    def spans(self, text: str) -> Spans:
        return self._model.spans(text)


def speed(work: Path, passages: int) -> Iterator[Row]:
    """Warm recall of each kind, and words of one and two characters, at so many passages."""
    vault = work / f"passages {passages}"
    vaults.make(vault, passages // PER_NOTE, 170 * PER_NOTE)
    settings = load_settings(Overrides(vault=str(vault)), {"KHIIP_HOME": str(work / "home")})
    fresh = fresh_questions()
    model = MiniLM(cache_dir=settings.homes.cache, threads=1)
    embedder = Drawn(model, {*QUERIES, *fresh})
    with VaultIndex.open(settings, write=True) as index:
        Syncer(index, embedder).run()
        count = index.counts().passages
        operations = Operations(RecallService(index, embedder))
        kinds = {kind: partial(ask, operations, kind) for kind in KINDS}
        times = in_turn(kinds)
        ratio = times["hybrid"] / times["semantic"]
        yield (
            f"Warm recall at {count:,} passages, of words that were asked for before",
            ", ".join(f"{kind} {times[kind]:.1f} ms" for kind in KINDS)
            + f": both {ratio:.1f} times meaning alone",
            "goal: at most 2 times",
        )
        once = asked_once(operations, fresh)
        yield (
            f"The same, of {len(fresh)} questions that nobody asked before",
            f"semantic {once['semantic']:.1f} ms, hybrid {once['hybrid']:.1f} ms: "
            f"both {once['hybrid'] / once['semantic']:.1f} times meaning alone",
            "",
        )
        short = in_turn({text: partial(ask, operations, "lexical", text) for text in SHORT})
        yield (
            f"Words of one and two characters at {count:,} passages",
            ", ".join(f"{text} {spent:.1f} ms" for text, spent in short.items()),
            "goal: under 1 s",
        )


def fresh_questions() -> list[str]:
    """Some words of each of many sentences."""
    rng = random.Random(7)
    drawn = rng.sample(vaults.sentences(), FRESH)
    return [" ".join(sentence.rstrip(".!?").split()[2 : rng.randint(6, 10)]) for sentence in drawn]


def asked_once(operations: Operations, questions: Sequence[str]) -> dict[str, float]:
    """Milliseconds of processor for each question once by meaning and once by both, the medians."""
    spent: dict[str, list[float]] = {"semantic": [], "hybrid": []}
    for question in questions:
        for kind, times in spent.items():
            began = time.process_time()
            ask(operations, kind, question)
            times.append(1000 * (time.process_time() - began))
    return {kind: statistics.median(times) for kind, times in spent.items()}


def ask(operations: Operations, kind: str, query: str | None = None) -> None:
    """One recall of each question, or one of the query."""
    for text in (query,) if query else QUERIES:
        operations.recall(
            {"q": [text], "match": [kind], "view": ["lean"], "mark_accessed": ["false"]}
        )


def in_turn(kinds: Mapping[str, Callable[[], None]]) -> dict[str, float]:
    """Milliseconds of processor for one recall of each kind, the median of rounds in turn."""
    spent: dict[str, list[float]] = {name: [] for name in kinds}
    for each in range(ROUNDS + 1):
        for name, work in kinds.items():
            began = time.process_time()
            work()
            if each:  # the first round warms up
                spent[name].append(1000 * (time.process_time() - began))
    count = {name: len(QUERIES) if name in KINDS else 1 for name in kinds}
    return {name: statistics.median(times) / count[name] for name, times in spent.items()}


def main() -> None:
    """Measure and print; with --rows also write the README's rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--passages", type=int, nargs="*", default=[10_000, 100_000])
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="khiip-retrieval-"))
    rows: list[Row] = []
    try:
        for part in (quality(work), *(speed(work, count) for count in options.passages)):
            for row in part:
                rows.append(row)
                print(": ".join(each for each in row if each), flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if options.rows:
        options.rows.write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
