"""A sidecar's outside without its inside: fixed answers over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from khiip_indexer.config import Settings
from khiip_sidecar.auth import load_or_make_key


class SidecarDouble:
    """Answers `method path` with (status, data); remembers what was asked, with which key."""

    def __init__(self, settings: Settings, vault_id: str = "the-vault") -> None:
        self.settings = settings
        self.vault_id = vault_id
        self.port = 0
        self.asked: list[tuple[str, str, dict[str, list[str]]]] = []
        self.bodies: list[Any] = []
        self.keys: list[tuple[str, str | None]] = []
        self.answers: dict[str, tuple[int, Any]] = {
            "GET /health": (200, {"vault_id": vault_id, "status": "ok"}),
            "GET /api/v1/meta": (200, {"config": {"vault_path": str(settings.vault)}}),
        }

    def answer(self, method: str, target: str, key: str | None, body: bytes) -> tuple[int, Any]:
        parts = urlsplit(target)
        self.asked.append((method, parts.path, parse_qs(parts.query, keep_blank_values=True)))
        self.keys.append((parts.path, key))
        self.bodies.append(json.loads(body) if body else None)
        found = self.answers.get(f"{method} {parts.path}")
        if found is None:
            return 404, {"detail": "No such route.", "error": "not_found", "hint": None}
        return found

    def write_file(self, **changes: Any) -> Path:
        self.settings.state.mkdir(parents=True, exist_ok=True)
        fields = {
            "url": f"http://127.0.0.1:{self.port}",
            "pid": 4321,
            "vault_id": self.vault_id,
            "version": "9.9.9",
        }
        path = self.settings.state / "sidecar.json"
        path.write_text(json.dumps(fields | changes))
        return path


@contextmanager
def running_double(settings: Settings) -> Iterator[SidecarDouble]:
    double = SidecarDouble(settings)
    load_or_make_key(settings.homes)

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            key = self.headers.get("Authorization")
            status, data = double.answer(self.command, self.path, key, body)
            raw = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = _answer  # noqa: N815 - the names that http.server calls

        def log_message(self, *_: object) -> None:
            """Tests watch stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    double.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    double.write_file()
    try:
        yield double
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
