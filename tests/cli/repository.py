"""A vault below the top of a real git repository, and a `khiipd` for its hooks to start."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.conftest import Khiipd
from khiip_sidecar.githooks.run import LOG_FILE, WAITING_FILE
from support import wait_until, write_note

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
PROGRAM = f"""#!{sys.executable}
import sys
sys.path[:0] = {[str(TESTS), str(ROOT / "indexer"), str(ROOT / "sidecar")]!r}
import khiip_indexer.embedder
from support import FakeEmbedder
khiip_indexer.embedder.MiniLM = lambda *_, **__: FakeEmbedder()
from khiip_sidecar.cli.entry import main
main()
"""


@dataclass(frozen=True)
class Repo:
    """The repository at `top` with the vault of `cli` in it."""

    top: Path
    cli: Khiipd

    @property
    def vault(self) -> Path:
        return self.cli.settings.vault

    @property
    def hooks(self) -> Path:
        return self.top / ".git" / "hooks"

    def git(self, *args: str, code: int = 0, top: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *args],
            cwd=top or self.top,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def commit(self, note: str, text: str) -> None:
        write_note(self.vault, note, text)
        self.git("add", "-A")
        self.git("commit", "-qm", note)

    def wait_until_current(self) -> None:
        """Until the hooks' work has ended and the index is that of the notes."""
        waiting = self.cli.settings.state / WAITING_FILE
        wait_until(lambda: not waiting.exists() and self._is_current(), self.log)
        assert self.git("status", "--porcelain") == ""

    def _is_current(self) -> bool:
        return self.cli.run("reindex", "--check").exit_code == 0

    def log(self) -> str:
        file = self.cli.settings.state / LOG_FILE
        return file.read_text() if file.exists() else ""


def make_program(path: Path) -> Path:
    """A `khiipd` with a fake model, to be run as a process."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(PROGRAM)
    path.chmod(0o755)
    return path


def make_repo(cli: Khiipd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Git knows nothing of this machine's settings; khiipd is a script with a fake model."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    program = make_program(tmp_path / "its own place" / "khiipd")
    monkeypatch.setattr("sys.argv", [str(program)])
    repo = Repo(cli.settings.vault.parent, cli)
    repo.git("init", "-q", "-b", "main")
    (repo.top / ".gitignore").write_text("/*-home\n/its own place\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "first")
    return repo
