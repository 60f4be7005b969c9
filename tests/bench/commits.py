"""Plays commits over a vault while it is served and asked; at the end the index equals a fresh one.

    python tests/bench/commits.py VAULT [--commits 300] [--clients 5]

VAULT is copied; its own text is what the commits move about: edits, renames, folder moves,
deletions and merges, by the real git, with a real sidecar and the real model.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.living import clients
from bench.services import PROGRAM, Sidecar, started
from equality import assert_equals_fresh
from khiip_indexer.config import Overrides, load_settings
from khiip_indexer.embedder import MiniLM

PORT = 8494


class Play:
    """A repository and the things that people do in one; everything follows from the seed."""

    def __init__(self, vault: Path, seed: int) -> None:
        self.vault = vault
        self.rng = random.Random(seed)
        self.count = 0
        self.git("init", "-q", "-b", "main")
        self.commit("start")

    def git(self, *words: str) -> None:
        environ = {
            **os.environ,
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        command = ["git", "-C", str(self.vault), *words]
        subprocess.run(command, env=environ, check=True, capture_output=True)

    def commit(self, subject: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)

    def notes(self) -> list[Path]:
        return sorted(path for path in self.vault.rglob("*.md") if ".khiip" not in path.parts)

    def note(self) -> Path:
        return self.rng.choice(self.notes())

    def edit(self) -> None:
        """Move paragraphs between two notes."""
        one, other = self.note(), self.note()
        parts = other.read_text(encoding="utf-8").split("\n\n")
        taken = self.rng.sample(parts, min(3, len(parts)))
        text = one.read_text(encoding="utf-8").rstrip()
        one.write_text(text + "\n\n" + "\n\n".join(taken) + "\n", encoding="utf-8")

    def cut(self) -> None:
        """Drop a paragraph."""
        note = self.note()
        parts = note.read_text(encoding="utf-8").split("\n\n")
        if len(parts) > 2:
            parts.pop(self.rng.randrange(1, len(parts)))
            note.write_text("\n\n".join(parts), encoding="utf-8")

    def rename(self) -> None:
        note = self.note()
        note.rename(note.with_name(f"renamed {self.count} {note.name[-40:]}"))

    def move_folder(self) -> None:
        folders = sorted({note.parent for note in self.notes()} - {self.vault})
        if folders:
            folder = self.rng.choice(folders)
            target = self.vault / f"moved {self.count}"
            if folder.is_dir():
                folder.rename(target)

    def delete(self) -> None:
        if len(self.notes()) > 150:
            self.note().unlink()

    def merge(self) -> None:
        """A branch with edits of its own, merged; conflicts are settled for the branch."""
        self.git("checkout", "-q", "-b", f"side{self.count}")
        self.edit()
        self.commit(f"side {self.count}")
        self.git("checkout", "-q", "main")
        self.cut()
        self.commit(f"meanwhile {self.count}")
        self.git("merge", "-q", "-X", "theirs", "-m", f"merge {self.count}", f"side{self.count}")

    def step(self) -> None:
        """One commit."""
        act: Callable[[], None] = self.rng.choices(
            (self.edit, self.cut, self.rename, self.move_folder, self.delete, self.merge),
            (50, 15, 12, 3, 10, 10),
        )[0]
        act()
        self.commit(f"{act.__name__} {self.count}")
        self.count += 1


def settled(sidecar: Sidecar) -> None:
    """Until the service has taken in everything, new file names included."""
    for _ in range(3):
        sidecar.wait_until_ready()
        subprocess.run(
            [PROGRAM, "--vault", str(sidecar.vault), "reindex"],
            env=sidecar.env,
            check=False,
            capture_output=True,
        )


def main() -> None:
    """Play, then compare; fails when anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--clients", type=int, default=5)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="khiip-commits-"))
    os.environ["KHIIP_HOME"] = str(work / "home")
    vault = work / "vault"
    shutil.copytree(options.vault, vault, ignore=shutil.ignore_patterns(".khiip", ".git"))
    subprocess.run(["chmod", "-R", "u+w", str(vault)], check=True)
    try:
        play = Play(vault, seed=1)
        with started(vault, PORT) as sidecar:
            sidecar.wait_until_ready()
            began = time.perf_counter()
            with clients(sidecar, options.clients):
                for _ in range(options.commits):
                    play.step()
                played = time.perf_counter() - began
                settled(sidecar)
            print(f"{options.commits} commits in {played:.0f} s; {len(play.notes())} notes left")
        settings = load_settings(Overrides(vault=str(vault)))
        assert_equals_fresh(settings, MiniLM(cache_dir=settings.homes.cache))
        print("the index equals a fresh one")
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
