"""Servers on this machine that speak as the real ones do, and misbehave when told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from support import word_vector

DIMENSION = 24
KEY = "sk-a-very-secret-key"
Act = Callable[["Call"], "Reply"]


@dataclass
class Call:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


@dataclass
class Reply:
    """One answer; `drip` sends it a byte at a time, each after so many seconds.

    `cut` breaks the connection inside of the body: of a promised length, or of a chunk.
    """

    status: int = 200
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    drip: float = 0.0
    raw: bytes | None = None
    cut: Literal["", "length", "chunk"] = ""


@dataclass
class Server:
    """Its address and what it was asked; `acts` are done in turn, then it answers as it should."""

    url: str
    calls: list[Call] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    always: Act | None = None

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call.texts]

    def reply(self, call: Call) -> Reply:
        self.calls.append(call)
        if self.acts:
            return self.acts.pop(0)(call)
        return (self.always or well)(call)


def rows(texts: list[str], dimension: int = DIMENSION) -> list[list[float]]:
    return [[3 * float(x) for x in word_vector(text, dimension)] for text in texts]


def well(call: Call) -> Reply:
    """As Ollama or OpenAI answer, by the path that was asked; openai in any order."""
    vectors = rows(call.texts)
    if call.path == "/api/embed":
        return Reply(body={"model": call.body["model"], "embeddings": vectors})
    if call.path == "/v1/embeddings":
        data = [{"index": n, "embedding": row} for n, row in enumerate(vectors)]
        return Reply(body={"object": "list", "data": data[::-1], "usage": {"total_tokens": 1}})
    return Reply(404, {"error": "no such page"})


def status(code: int, **headers: str) -> Act:
    """An answer of nothing but a status, and a body that repeats the key."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: Reply(code, {"error": f"about {KEY}"}, named)


@contextmanager
def server() -> Iterator[Server]:
    """A server on a port that the system picks."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            call = Call(self.path, dict(self.headers.items()), json.loads(raw))
            reply = known.reply(call)
            body = json.dumps(reply.body).encode() if reply.raw is None else reply.raw
            try:
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self._send_size(len(body), reply.cut)
                self._send(body, reply.drip)
            except OSError:
                return  # the other side has had enough

        def _send_size(self, size: int, cut: str) -> None:
            promised = size + 100 if cut else size
            if cut == "chunk":
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(promised))
            self.end_headers()
            if cut == "chunk":
                self.wfile.write(f"{promised:x}\r\n".encode())

        def _send(self, body: bytes, drip: float) -> None:
            if not drip:
                self.wfile.write(body)
                return
            for n in range(len(body)):
                if ended.wait(drip):
                    return
                self.wfile.write(body[n : n + 1])
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            return

    ended = threading.Event()
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    known = Server(f"http://127.0.0.1:{listener.server_address[1]}")
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield known
    finally:
        ended.set()
        listener.shutdown()
        listener.server_close()
        thread.join(5)
