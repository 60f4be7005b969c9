"""Progress as server-sent events: one reader looks, every open stream is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool

from khiip_indexer.errors import KhiipError
from khiip_sidecar.http.answers import Header, HttpError, Receive, Scope, Send
from khiip_sidecar.wire.encode import Json, error_body, to_json

LOOK_SECONDS = 0.25
MOST_WORK = 0.1  # of the time may go into looking
HEARTBEAT_SECONDS = 15.0
MOST_STREAMS = 16

HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)
HEARTBEAT = b": still here\n\n"


class ProgressStreams:
    """Serves `event: progress` at once and on every change, with a comment when all is quiet.

    Only the newest state is kept, for all streams together: who reads slowly misses states in
    between, and costs no memory. The state is read only while somebody listens.
    """

    def __init__(self, read: Callable[[], Json]) -> None:
        self._read = read
        self._latest: bytes | None = None
        self._listeners: set[asyncio.Event] = set()
        self._reader: asyncio.Task[None] | None = None
        self._closed = False

    def close(self) -> None:
        """End every stream; called in the event loop when the service stops."""
        self._closed = True
        self._wake()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "HEAD" and len(self._listeners) >= MOST_STREAMS:
            raise _too_many()
        await send({"type": "http.response.start", "status": 200, "headers": [*HEADERS]})
        if scope["method"] != "HEAD":
            await self._stream(receive, send)
        await send({"type": "http.response.body", "body": b""})

    async def _stream(self, receive: Receive, send: Send) -> None:
        changed = asyncio.Event()
        gone = asyncio.ensure_future(_disconnected(receive))
        gone.add_done_callback(lambda _: changed.set())
        reader = self._join(changed)
        try:
            await self._tell(send, changed, lambda: self._closed or gone.done() or reader.done())
            if reader.done() and not self._closed:
                await reader  # raises what ended it
        finally:
            gone.cancel()
            self._leave(changed)

    async def _tell(self, send: Send, changed: asyncio.Event, over: Callable[[], bool]) -> None:
        sent: bytes | None = None
        while not over():
            changed.clear()
            if self._latest is not None and self._latest != sent:
                sent = self._latest
                await send(_part(sent))
                continue
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await changed.wait()
            except TimeoutError:
                await send(_part(HEARTBEAT))

    def _join(self, changed: asyncio.Event) -> asyncio.Task[None]:
        self._listeners.add(changed)
        if self._reader is None or self._reader.done():
            self._reader = asyncio.ensure_future(self._keep_reading())
            self._reader.add_done_callback(lambda _: self._wake())
        return self._reader

    def _leave(self, changed: asyncio.Event) -> None:
        self._listeners.discard(changed)
        if not self._listeners and self._reader is not None:
            self._reader.cancel()
            self._reader = self._latest = None

    async def _keep_reading(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            said = await run_in_threadpool(self._said)
            took = clock() - began
            if said != self._latest:
                self._latest = said
                self._wake()
            await asyncio.sleep(pause_after(took))

    def _said(self) -> bytes:
        """The state as an event; a failure to read it is told, and the next look may succeed."""
        try:
            return _event("progress", self._read())
        except KhiipError as error:
            return _event("error", error_body(error))

    def _wake(self) -> None:
        for listener in self._listeners:
            listener.set()


def pause_after(took: float) -> float:
    """Seconds until the next look: counting a huge vault, while it changes, must cost little."""
    return max(LOOK_SECONDS, took * (1 / MOST_WORK - 1))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(name: str, data: Json) -> bytes:
    # JSON escapes line ends, so the data is one line, as the format wants it.
    return b"event: %s\ndata: %s\n\n" % (name.encode(), to_json(data))


def _part(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}


def _too_many() -> HttpError:
    return HttpError(
        429,
        "too_many_streams",
        f"{MOST_STREAMS} programs follow the index already.",
        hint="Close one, or ask GET /api/v1/index now and then.",
        headers=[(b"retry-after", b"5")],
    )
