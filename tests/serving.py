"""`serve` in a thread of this process: a real socket, a real index, only the model is a double."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from khiip_indexer.config import Settings
from khiip_indexer.embedder import Embedder
from khiip_sidecar.auth import load_or_make_key
from khiip_sidecar.daemon import Daemon, serve
from support import FakeEmbedder


@dataclass
class Served:
    daemon: Daemon
    settings: Settings
    port: int
    key: str

    def ask(
        self, path: str, method: str = "GET", key: str | None = None
    ) -> tuple[int, Any, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request(method, path, headers={"Authorization": f"Bearer {key or self.key}"})
        response = connection.getresponse()
        raw = response.read()
        connection.close()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return response.status, json.loads(raw) if raw else None, headers

    def wait_until_ready(self) -> dict[str, Any]:
        for _ in range(500):
            state: dict[str, Any] = self.ask("/api/v1/index")[1]
            if state["state"] == "ready" and (state["last_report"] or state["error"]):
                return state
            time.sleep(0.01)
        pytest.fail("the sidecar did not become ready within five seconds")


@contextmanager
def serving(settings: Settings, embedder: Embedder | None = None) -> Iterator[Served]:
    """`serve` in a thread of this process, on a port that the system picks."""
    daemons: list[Daemon] = []
    codes: list[int] = []
    ready = threading.Event()

    def on_ready(daemon: Daemon) -> None:
        daemons.append(daemon)
        ready.set()

    def run() -> None:
        codes.append(
            serve(settings, "127.0.0.1", 0, embedder=embedder or FakeEmbedder(), on_ready=on_ready)
        )

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(10)
    try:
        yield Served(daemons[0], settings, daemons[0].address[1], load_or_make_key(settings.homes))
    finally:
        daemons[0].stop()
        thread.join(5)
    assert codes == [0]
