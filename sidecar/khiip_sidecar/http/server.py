"""The HTTP server under the routes: uvicorn, with errors of our shape and limits to patience."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Protocol

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from khiip_sidecar.http.answers import JSON_HEADERS, HttpError, Receive, Scope, Send
from khiip_sidecar.wire.encode import error_body, to_json

STOP_ANSWERING_SECONDS = 1
# A query of 10,000 characters in a script of three bytes each is 90 KB once percent-encoded.
MAX_HEAD_BYTES = 256 * 1024
# Who connects and says nothing whole by then holds a socket for nothing.
FIRST_REQUEST_SECONDS = 20.0
# Who takes nothing for this long, with a full buffer on our side, has gone without a word.
STALLED_SECONDS = 60.0

UNREADABLE = HttpError(
    400,
    "bad_request",
    f"The request is not valid HTTP/1.1, or its head is over {MAX_HEAD_BYTES} bytes.",
    hint="Send one Host header, percent-encode the address, and keep it short.",
)


class Application(Protocol):
    """An ASGI application that can be told that the service stops."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...

    def close(self) -> None: ...


class Server(uvicorn.Server):
    """Leaves signals to us: uvicorn raises them again after its own shutdown, which would end
    the process before the index is closed. `when_started` is called once requests are taken."""

    def __init__(self, app: Application) -> None:
        super().__init__(_config(app))
        self._app = app
        self.when_started: Callable[[], None] = lambda: None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.when_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.close()  # answers without an end would be waited for otherwise
        for connection in self.server_state.connections:
            if isinstance(connection, Connection):
                connection.hurry()
        await super().shutdown(sockets)


class Connection(H11Protocol):
    """One connection; what cannot be parsed is refused in the words of every other error."""

    stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(FIRST_REQUEST_SECONDS, self._give_up_on_silence)

    def _give_up_on_silence(self) -> None:
        if self.cycle is None:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def hurry(self) -> None:
        """Leave a client that takes nothing only half of the time that the stop may take."""
        if self.stalled is not None:
            self.stalled.cancel()
            self.stalled = self.loop.call_later(STOP_ANSWERING_SECONDS / 2, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._not_stalled()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._not_stalled()

    def _not_stalled(self) -> None:
        if self.stalled is not None:
            self.stalled.cancel()
            self.stalled = None

    def send_400_response(self, msg: str) -> None:
        body = to_json(error_body(UNREADABLE))
        headers = [*JSON_HEADERS, (b"connection", b"close"), (b"content-length", b"%d" % len(body))]
        lines = [b"HTTP/1.1 400 Bad Request", *(b"%s: %s" % header for header in headers)]
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """An upgrade that is not served is answered as the plain request that it also is."""


def _config(app: Application) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,  # ours: one line each
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=STOP_ANSWERING_SECONDS,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
