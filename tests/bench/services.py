"""A real sidecar on a loopback port, started, asked and stopped."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).with_name("khiipd"))


class Sidecar:
    """One client's connection to a running sidecar."""

    def __init__(self, vault: Path, port: int, key: str, pid: int, env: dict[str, str]) -> None:
        self.program = PROGRAM
        self.env = env
        self.health_seconds = self.answer_seconds = 0.0
        self._port, self._key, self._pid = port, key, pid
        self.vault = vault
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def another(self) -> Sidecar:
        """A connection of its own to the same service, for another thread."""
        return Sidecar(self.vault, self._port, self._key, self._pid, self.env)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def key(self) -> str:
        return self._key

    def get(self, path: str, **query: str) -> Any:
        """The JSON of one answer; RuntimeError for any other status than 200."""
        address = f"{path}?{urllib.parse.urlencode(query)}" if query else path
        headers = {"Authorization": f"Bearer {self._key}"}
        try:
            response = self._ask(address, headers)
        except (http.client.RemoteDisconnected, ConnectionResetError):
            response = self._ask(address, headers)  # a connection kept too long was let go
        body = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}: {body[:300]!r}")
        return json.loads(body)

    def _ask(self, address: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        try:
            self._connection.request("GET", address, headers=headers)
            return self._connection.getresponse()
        except (OSError, http.client.HTTPException):
            self._connection.close()  # else the next request would be out of turn
            raise

    def recall(self, query: str, *, limit: int) -> list[dict[str, Any]]:
        """Lean hits."""
        answer = self.get("/api/v1/recall", q=query, limit=str(limit), view="lean")
        rows: list[dict[str, Any]] = answer["results"]
        return rows

    def state(self) -> str:
        return str(self.get("/health")["state"])

    def pending(self) -> int:
        return int(self.get("/health")["index"]["pending"])

    def wait_until_ready(self, seconds: float = 600) -> None:
        """Until nothing is being indexed; RuntimeError when that takes too long."""
        end = time.perf_counter() + seconds
        while self.state() != "ready" or self.pending():
            if time.perf_counter() > end:
                raise RuntimeError("the sidecar did not come to rest")
            time.sleep(0.1)

    def resident(self) -> float:
        """Memory in use now, in MiB."""
        return self._memory("VmRSS")

    def peak(self) -> float:
        """The most memory that was ever in use, in MiB."""
        return self._memory("VmHWM")

    def _memory(self, name: str) -> float:
        for line in Path(f"/proc/{self._pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
        raise RuntimeError("the sidecar is gone")


@contextmanager
def started(vault: Path, port: int, env: dict[str, str] | None = None) -> Iterator[Sidecar]:
    """A sidecar on a vault; measures how long it took to say how it is, and to answer."""
    env = dict(os.environ) if env is None else env
    key = subprocess.run(
        [PROGRAM, "--vault", str(vault), "auth", "show"],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    began = time.perf_counter()
    process = subprocess.Popen(
        [PROGRAM, "--vault", str(vault), "serve", "--port", str(port)],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    sidecar = Sidecar(vault, port, key, process.pid, env)
    try:
        sidecar.health_seconds = _until(lambda: sidecar.get("/health")) - began
        sidecar.answer_seconds = _until(lambda: sidecar.recall("anything", limit=1)) - began
        yield sidecar
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def _until(ask: Any) -> float:
    """The moment at which a call first went well."""
    end = time.perf_counter() + 60
    while time.perf_counter() < end:
        try:
            ask()
        except (OSError, http.client.HTTPException, RuntimeError):
            time.sleep(0.01)
        else:
            return time.perf_counter()
    raise RuntimeError("the sidecar never answered")
