"""A vault of the notes a case asks for, seen through every face at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cli.conftest import Khiipd
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_sidecar.daemon import warm
from khiip_sidecar.http.app import make_app
from khiip_sidecar.http.security import Access
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService
from khiip_sidecar.worker import IndexWorker
from support import FakeEmbedder, make_vault, write_note

KEY = "khiip_for-the-field-cases"
Notes = Mapping[str, str | bytes]
Json = dict[str, Any]


@dataclass(frozen=True)
class Case(Khiipd):
    """One vault: its files, its command line, and the HTTP service over the same index."""

    @property
    def vault(self) -> Path:
        return self.settings.vault

    def write(self, notes: Notes) -> None:
        for path, content in notes.items():
            write_note(self.vault, path, "").write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )

    def json(self, *args: str) -> Any:
        """What a command prints with --json; it must have ended well."""
        return json.loads(self.ok(args[0], "--json", *args[1:]).stdout)

    def paths(self, query: str, *args: str) -> list[str]:
        """Vault paths of the hits, best first."""
        return [hit["vault_path"] for hit in self.json("recall", *args, "--", query)["results"]]

    def capture(self, path: str) -> Json:
        found: Json = self.json("get", path)
        return found

    @contextmanager
    def http(self, *, loaded: bool = False) -> Iterator[TestClient]:
        """The service over this index, with its key; its first sync is not run.

        `loaded` has model and vectors in memory, as a sidecar has them a moment after its start.
        """
        with VaultIndex.open(self.settings, write=True, role="serve") as index:
            worker = IndexWorker(Syncer(index, self.embedder), lambda: warm(index, self.embedder))
            if loaded:
                warm(index, self.embedder)
            service = RecallService(index, self.embedder, worker=worker)
            app = make_app(Operations(service), Access(("127.0.0.1",), lambda: KEY))
            auth = {"Authorization": f"Bearer {KEY}"}
            yield TestClient(app, base_url="http://127.0.0.1:8478", headers=auth)

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Bytes and time of every file of the user's."""
        return {
            str(path.relative_to(self.vault)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(self.vault.rglob("*"))
            if path.is_file() and ".khiip" not in path.relative_to(self.vault).parts
        }

    def process(
        self, *args: str, env: Mapping[str, str] | None = None, before: tuple[str, ...] = ()
    ) -> subprocess.CompletedProcess[str]:
        """`khiipd` as a process of its own, with the real model."""
        call = [
            *before,
            sys.executable,
            "-c",
            "from khiip_sidecar.cli.main import main; main()",
            "--vault",
            str(self.vault),
            *args,
        ]
        said = {**os.environ, "KHIIP_HOME": str(self.settings.homes.config.parent), **(env or {})}
        return subprocess.run(
            call, capture_output=True, text=True, timeout=60, env=said, check=False
        )


MakeCase = Callable[..., Case]


@pytest.fixture
def make_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeCase:
    """Lay a vault; the model is a double unless the case is about the real one."""

    def make(notes: Notes, *, real_model: bool = False) -> Case:
        settings = make_vault(tmp_path / "vault", {})
        embedder = FakeEmbedder()
        monkeypatch.setenv("KHIIP_HOME", str(tmp_path / "vault-home"))
        monkeypatch.delenv("KHIIP_VAULT", raising=False)
        if not real_model:
            monkeypatch.setattr("khiip_indexer.embedder.MiniLM", lambda *_, **__: embedder)
        case = Case(settings, embedder)
        case.write(notes)
        return case

    return make


class Opened:
    """Which files and folders this process opens, seen by Python's own audit events."""

    def __init__(self) -> None:
        self.watching = False
        self.paths: list[str] = []
        sys.addaudithook(self._hear)  # cannot be taken back, so it only listens on demand

    def _hear(self, event: str, args: tuple[object, ...]) -> None:
        if not self.watching or event not in ("open", "os.scandir", "os.listdir"):
            return
        if args and isinstance(args[0], str | bytes):
            self.paths.append(os.fsdecode(args[0]))

    @contextmanager
    def during(self) -> Iterator[list[str]]:
        """The absolute paths opened in the block."""
        self.paths = []
        self.watching = True
        try:
            yield self.paths
        finally:
            self.watching = False


_opened = Opened()


@pytest.fixture
def opened() -> Opened:
    return _opened
