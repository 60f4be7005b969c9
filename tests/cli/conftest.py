"""A vault, and `khiipd` called in this process with an embedder that needs no model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from khiip_indexer.config import Settings
from khiip_sidecar.cli.main import khiipd
from khiip_sidecar.client import find_sidecar
from support import FakeEmbedder, make_vault

NOTES = {
    "Notes/Quipu.md": "---\ntags: [history]\ncreated: 2026-01-03\n---\nKnots in cords kept count.",
    "Notes/Tides.md": "---\ncreated: 2026-01-02\n---\nThe moon pulls the sea twice a day.",
    "Bread.md": "---\ncreated: 2026-01-01\nauthor: Ada\n---\nFlour water salt and patience.",
}


@dataclass(frozen=True)
class Khiipd:
    """One vault and its command line; `run` never raises what the program should show."""

    settings: Settings
    embedder: FakeEmbedder

    def run(self, *args: str, vault: bool = True) -> Result:
        where = ["--vault", str(self.settings.vault)] if vault else []
        return CliRunner().invoke(khiipd, [*where, *args])

    def ok(self, *args: str) -> Result:
        result = self.run(*args)
        assert result.exit_code == 0, result.output
        return result

    @contextmanager
    def served(self) -> Iterator[int]:
        """A real sidecar in a thread of this process, its first sync done; gives its port."""
        from khiip_sidecar.daemon import Daemon, serve

        ready: list[Daemon] = []
        up = threading.Event()

        def on_ready(daemon: Daemon) -> None:
            ready.append(daemon)
            up.set()

        thread = threading.Thread(
            target=serve,
            args=(self.settings, "127.0.0.1", 0),
            kwargs={"embedder": self.embedder, "on_ready": on_ready},
        )
        thread.start()
        assert up.wait(10)
        try:
            self.wait_until_ready()
            yield ready[0].address[1]
        finally:
            ready[0].stop()
            thread.join(10)
            assert not thread.is_alive()

    def wait_until_ready(self) -> None:
        for _ in range(1000):
            sidecar = find_sidecar(self.settings)
            if sidecar is not None and sidecar.health()["state"] == "ready":
                return
            time.sleep(0.01)
        raise AssertionError("the sidecar did not finish its first sync")


@pytest.fixture
def make_khiipd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Khiipd]:
    def make(notes: dict[str, str] = NOTES) -> Khiipd:
        settings = make_vault(tmp_path / "vault", notes)
        embedder = FakeEmbedder()
        monkeypatch.setenv("KHIIP_HOME", str(tmp_path / "vault-home"))
        monkeypatch.delenv("KHIIP_VAULT", raising=False)
        monkeypatch.setattr("khiip_indexer.embedder.MiniLM", lambda *_, **__: embedder)
        return Khiipd(settings, embedder)

    return make


@pytest.fixture
def cli(make_khiipd: Callable[..., Khiipd]) -> Khiipd:
    """Three notes, not indexed yet."""
    return make_khiipd()


@pytest.fixture
def indexed(cli: Khiipd) -> Khiipd:
    """Three notes, indexed."""
    cli.ok("reindex")
    return cli
