"""Vaults of any size, made of the sample vault's own sentences."""

from __future__ import annotations

import random
import re
from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "fixtures" / "vaults" / "sample"


def sentences() -> list[str]:
    """Every English sentence of the sample vault that stands on its own."""
    found: list[str] = []
    for note in sorted(SAMPLE.rglob("*.md")):
        text = note.read_bytes().decode("utf-8", "replace")
        for line in text.splitlines():
            if line.isascii() and len(line) > 80 and not line.startswith(("-", "#", ">", "!")):
                found += re.findall(r"[A-Z][^.!?]{30,200}[.!?]", line)
    return found


def make(root: Path, count: int, words: int, *, seed: int = 1) -> Path:
    """A vault of `count` notes of about `words` words; each one is different from the others."""
    rng = random.Random(seed)
    pool = sentences()
    (root / ".obsidian").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        folder = root / f"folder {number % 40}"
        folder.mkdir(exist_ok=True)
        text: list[str] = []
        while sum(len(sentence.split()) for sentence in text) < words:
            text.append(rng.choice(pool))
        head = f"---\ntitle: Note {number}\ntags: [t{number % 30}]\ncreated: 2026-01-01\n---\n"
        (folder / f"note {number}.md").write_text(head + " ".join(text) + "\n", encoding="utf-8")
    return root


def copy_of(notes: list[Path], root: Path) -> Path:
    """A vault of just these notes."""
    (root / ".obsidian").mkdir(parents=True, exist_ok=True)
    for number, note in enumerate(notes):
        (root / f"{number}.md").write_bytes(note.read_bytes())
    return root
