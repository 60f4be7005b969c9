"""What recall costs an agent in tokens, beside the whole payloads of the same notes.

    python tests/bench/tokens.py [VAULT …] [--bpe-python PATH] [--rows FILE]

Counts with o200k_base and cl100k_base, the higher of the two, by a Python that has bpe-openai
(requirements-bench.txt). Vaults without questions of their own are asked with titles of theirs.
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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_sidecar.cli.app import local_backend
from khiip_sidecar.client import Backend
from khiip_sidecar.mcp_server.schemas import RECALL_TOKENS
from khiip_sidecar.mcp_server.tools import get_capture, list_captures, recall
from khiip_sidecar.wire.encode import to_json

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "fixtures" / "vaults" / "sample"
QUESTIONS = ROOT / "fixtures" / "recall" / "questions.jsonl"
KHIIPD = str(Path(sys.executable).with_name("khiipd"))
MOST_QUESTIONS = 40
Row = tuple[str, str, str]

COUNT = """
import json, sys
import bpe_openai
encodings = [bpe_openai.get_encoding(name) for name in ("o200k_base", "cl100k_base")]
texts = json.load(sys.stdin)
print(json.dumps([max(len(e.encode_ordinary(text)) for e in encodings) for text in texts]))
"""


def counted(python: str, texts: Sequence[str]) -> list[int]:
    """Tokens of each text."""
    done = subprocess.run(
        [python, "-c", COUNT], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    found: list[int] = json.loads(done.stdout)
    return found


def indexed(source: Path, work: Path) -> Settings:
    """A copy of a vault, indexed."""
    vault = work / source.name
    shutil.copytree(source, vault, ignore=shutil.ignore_patterns(".khiip"))
    environment = {**os.environ, "KHIIP_HOME": str(work / "home")}
    command = [KHIIPD, "--vault", str(vault), "reindex"]
    done = subprocess.run(command, env=environment, check=False, capture_output=True)
    assert done.returncode in (0, 3), done.stderr
    return load_settings(Overrides(vault=str(vault)), environment, vault)


def questions(backend: Backend, source: Path) -> list[str]:
    """Those of the sample vault, else titles spread over the vault."""
    if source == SAMPLE:
        lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["query"] for line in lines][:MOST_QUESTIONS]
    rows = backend.captures({"view": ["lean"], "limit": ["1000"]})
    return [row["title"] for row in rows[:: max(1, len(rows) // MOST_QUESTIONS)]][:MOST_QUESTIONS]


def answers(backend: Backend, asked: Sequence[str]) -> Iterator[tuple[Any, str, str]]:
    """(what recall gave, its text, the whole captures of the same hits as REST sends them)."""
    for question in asked:
        answer = recall(backend, {"query": question, "mark_accessed": False})
        whole = [backend.capture(hit["id"]) for hit in answer["results"]]
        yield answer, to_json(answer).decode(), to_json(whole).decode()


def measured(source: Path, work: Path, python: str) -> list[Row]:
    """Rows for one vault; a result that passes its budget fails the run."""
    with local_backend(indexed(source, work)) as backend:
        found = list(answers(backend, questions(backend, source)))
        listed = list_captures(backend, {})
        page = get_capture(backend, {"id": listed["captures"][0]["id"]})
    lean = counted(python, [text for _, text, _ in found])
    full = counted(python, [text for _, _, text in found])
    others = counted(python, [to_json(listed).decode(), to_json(page).decode()])
    assert max(*lean, *others) <= RECALL_TOKENS, "a result passed its budget"
    share = statistics.mean(lean) / statistics.mean(full)
    hits = statistics.mean(len(answer["results"]) for answer, _, _ in found)
    told = statistics.mean(
        answer["approx_tokens"] / real for (answer, _, _), real in zip(found, lean, strict=True)
    )
    return [
        (
            f"Tokens of a recall by an agent, {source.name} vault, {len(found)} questions",
            f"{statistics.median(lean):.0f} (most {max(lean)}) for {hits:.1f} hits; whole captures "
            f"of the same hits {statistics.median(full):.0f} (most {max(full)}); "
            f"{100 * share:.0f} % of them on average",
            f"limit: {RECALL_TOKENS}",
        ),
        (
            f"What such an answer says of its tokens, {source.name} vault",
            f"{told:.2f} times what they are",
            "limit: not below 1",
        ),
    ]


def main() -> int:
    """Measure and print, or write rows for `run.py`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vaults", type=Path, nargs="*", default=[SAMPLE])
    parser.add_argument("--bpe-python", default=str(ROOT / ".cache" / "bench" / "bin" / "python"))
    parser.add_argument("--rows", type=Path)
    given = parser.parse_args()
    rows: list[Row] = []
    for vault in given.vaults:
        with tempfile.TemporaryDirectory() as folder:
            rows += measured(vault.resolve(), Path(folder), given.bpe_python)
    for what, figure, held_to in rows:
        print(f"{what}: {figure} ({held_to})", flush=True)
    if given.rows:
        given.rows.write_text(json.dumps(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
