"""`/mcp`: the streamable HTTP transport as an application behind the service's own guard.

Without sessions: every request stands for itself, so that nothing is kept for clients that are
gone, and any of them may go on after the service was started anew.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from khiip_sidecar.client import Backend
from khiip_sidecar.mcp_server.pipes import INVALID_REQUEST, refusal, understood
from khiip_sidecar.texts import shown

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# With it a request says its version itself, and the SDK answers with what it serves.
_MODERN = b"io.modelcontextprotocol/protocolVersion"
_HALF = re.compile("[\ud800-\udfff]")


class McpEndpoint:
    """Answers POST requests; the SDK is loaded when the first one comes."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._closing: asyncio.Event | None = None
        self._starting: asyncio.Lock | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = _no_message(scope)
        manager = None if refused else await self._started()
        refused = refused or _no_version(scope)
        if manager is None or refused:
            await _refuse(send, refused)
            return
        await manager.handle_request(scope, _without_halves(scope, receive), send)

    def close(self) -> None:
        """End what is still being answered; called in the event loop, at the service's end."""
        if self._closing is not None:
            self._closing.set()

    async def _started(self) -> StreamableHTTPSessionManager:
        if self._starting is None:
            self._starting = asyncio.Lock()
        async with self._starting:
            if self._manager is None:
                manager = await asyncio.to_thread(_manager, self._backend)
                await self._run(manager)
                self._manager = manager
        return self._manager

    async def _run(self, manager: StreamableHTTPSessionManager) -> None:
        """The manager's tasks live in a task of their own, until `close`."""
        closing = self._closing = asyncio.Event()
        ready = asyncio.Event()

        async def run() -> None:
            async with manager.run():
                ready.set()
                await closing.wait()

        self._running = asyncio.create_task(run(), name="khiip-mcp")
        await ready.wait()


def _manager(backend: Backend) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from khiip_sidecar.mcp_server.server import make_server
    from khiip_sidecar.mcp_server.source import FixedSource

    return StreamableHTTPSessionManager(make_server(FixedSource(backend)), stateless=True)


def _no_message(scope: Scope) -> str:
    """The answer to a body that is no message, else "": the SDK would tell of its own models."""
    message = understood(scope.get("khiip.body", b""))
    if message is None:
        return refusal(None, INVALID_REQUEST, "The body is empty: a JSON-RPC message goes there.")
    return message.refusal


def _no_version(scope: Scope) -> str:
    """The answer to a version of the protocol that nobody speaks, else ""."""
    from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

    headers = dict(scope["headers"])
    asked = headers.get(b"mcp-protocol-version", b"").decode("latin-1")
    served = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
    body: bytes = scope.get("khiip.body", b"")
    if not asked or asked in served or _MODERN in body:
        return ""
    message = understood(body)
    sentence = (
        f"Version {shown(asked)} of the protocol (header MCP-Protocol-Version) is not served. "
        f"Served are {', '.join(served)}."
    )
    return refusal(message.asks if message else None, INVALID_REQUEST, sentence)


async def _refuse(send: Send, line: str) -> None:
    body = line.encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _without_halves(scope: Scope, receive: Receive) -> Receive:
    """The body with halves of surrogate pairs replaced: the SDK refuses what it cannot encode."""
    body: bytes = scope.get("khiip.body", b"")
    if b"\\ud" not in body.lower():
        return receive
    try:
        text = json.dumps(json.loads(body), ensure_ascii=False)
    except (ValueError, RecursionError):
        return receive  # the SDK says what is wrong with it
    whole = _HALF.sub("\ufffd", text).encode()

    async def again() -> Message:
        message = await receive()
        if message["type"] == "http.request":
            return {"type": "http.request", "body": whole, "more_body": False}
        return message

    return again
