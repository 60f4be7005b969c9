"""What `make demo` shows: index a vault, then ask it things in other words than it uses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KHIIPD = Path(sys.executable).with_name("khiipd")

RECALLS: tuple[tuple[str, ...], ...] = (
    ("Inca knot record system",),
    ("building a second brain with AI",),
    ("where is the spare key",),
    ("why does the middle of the night matter for learning", "--source", "youtube"),
    ("lessons from things that went wrong", "--folder", "Memory"),
)
SOME_PROBLEMS = 3


def khiipd(*arguments: str) -> int:
    """Run one command where a person can read it."""
    print(f"\n$ khiipd {' '.join(quoted(word) for word in arguments[2:])}", flush=True)
    return subprocess.run([str(KHIIPD), *arguments], check=False).returncode


def quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word


def main() -> int:
    """Index the vault and recall from it; fails when a command fails."""
    vault = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "fixtures" / "vaults" / "sample")
    at = ("--vault", vault)
    codes = [khiipd(*at, "reindex")]
    codes += [khiipd(*at, "recall", *words, "--limit", "3") for words in RECALLS]
    codes.append(khiipd(*at, "status", "--problems", "3"))
    return 0 if all(code in (0, SOME_PROBLEMS) for code in codes) else 1


if __name__ == "__main__":
    sys.exit(main())
