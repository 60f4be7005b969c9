"""`khiipd mcp`: one client over stdin and stdout, until it goes."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage

from khiip_sidecar.mcp_server.pipes import (
    CHUNK,
    INVALID_REQUEST,
    Line,
    Pipes,
    lines_of,
    refusal,
    understood,
    write_all,
)
from khiip_sidecar.mcp_server.server import make_server
from khiip_sidecar.mcp_server.source import Source

log = logging.getLogger(__name__)

Incoming = SessionMessage | Exception

# How long answers may take that are under way when the client has closed its end.
LAST_ANSWERS_SECONDS = 3.0


def serve_stdio(source: Source, pipes: Pipes) -> None:
    """Serve until stdin ends or the client stops reading."""
    anyio.run(_serve, source, pipes)


async def _serve(source: Source, pipes: Pipes) -> None:
    server = make_server(source)
    session = _Session(pipes)
    async with anyio.create_task_group() as tasks:
        session.start()
        tasks.start_soon(session.write)
        await server.run(session.incoming, session.outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


class _Session:
    """Lines to messages and back, and which requests still want an answer."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._open: set[str | int] = set()
        self._loop = asyncio.get_running_loop()
        self._heard: MemoryObjectSendStream[Incoming]
        self.incoming: MemoryObjectReceiveStream[Incoming]
        self._heard, self.incoming = anyio.create_memory_object_stream[Incoming](0)
        self.outgoing: MemoryObjectSendStream[SessionMessage]
        self._said: MemoryObjectReceiveStream[SessionMessage]
        self.outgoing, self._said = anyio.create_memory_object_stream[SessionMessage](0)
        self._refusals = self.outgoing.clone()

    def start(self) -> None:
        """Read in a thread that never keeps the process alive: a read cannot be interrupted."""
        threading.Thread(target=self._read, name="khiip-stdin", daemon=True).start()

    def _read(self) -> None:
        try:
            for line in lines_of(lambda: os.read(self._pipes.read, CHUNK)):
                if (meant := understood(line)) is not None:
                    self._in_loop(self._hear, meant)
        except OSError as error:
            log.warning("stdin could not be read: %s", error)
        except RuntimeError:
            return  # the session has ended, and its loop with it
        self._in_loop(self._end)

    def _in_loop(self, do: Callable[..., object], *args: object) -> None:
        """Run it in the session, and wait: a client that floods is read no faster than served."""
        asyncio.run_coroutine_threadsafe(do(*args), self._loop).result()  # type: ignore[arg-type]

    async def _hear(self, line: Line) -> None:
        try:
            if line.refusal:
                await self._refuse(line.refusal)
                return
            try:
                message = types.jsonrpc_message_adapter.validate_json(line.text, by_name=False)
            except ValueError:
                await self._refuse(refusal(line.asks, INVALID_REQUEST, "That is no request."))
                return
            if line.asks is not None:
                self._open.add(line.asks)
            _note_cancelled(message, self._open)
            await self._heard.send(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            log.debug("a message came after the end of the session")

    async def _refuse(self, line: str) -> None:
        await anyio.to_thread.run_sync(write_all, self._pipes.write, line)

    async def _end(self) -> None:
        """The client has said all; what it asked is still answered, within reason."""
        with anyio.move_on_after(LAST_ANSWERS_SECONDS):
            while self._open:
                await anyio.sleep(0.02)
        self._heard.close()

    async def write(self) -> None:
        """Write what the server says, one message a line, in order."""
        async with self._said:
            async for said in self._said:
                message = said.message
                line = message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await anyio.to_thread.run_sync(write_all, self._pipes.write, line)
                except OSError:
                    os._exit(0)  # the client is gone, and nobody is left to answer
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    self._open.discard(message.id if message.id is not None else "")


def _note_cancelled(message: types.JSONRPCMessage, waiting: set[str | int]) -> None:
    """A request that was cancelled has no answer."""
    if not isinstance(message, types.JSONRPCNotification):
        return
    if message.method == "notifications/cancelled":
        waiting.discard((message.params or {}).get("requestId", ""))
