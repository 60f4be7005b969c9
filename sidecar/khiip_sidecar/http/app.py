"""The routes: each reads its request, calls one operation, and sends what that gives."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Route, Router

from khiip_indexer.errors import UsageError
from khiip_sidecar.http.answers import (
    App,
    ErrorEdge,
    Receive,
    Scope,
    Send,
    method_not_allowed,
    no_such_address,
    send_bytes,
    send_nothing,
)
from khiip_sidecar.http.events import ProgressStreams
from khiip_sidecar.http.page import page_apps
from khiip_sidecar.http.security import Access, Guard
from khiip_sidecar.http.server import Application
from khiip_sidecar.operations import Operations
from khiip_sidecar.wire.encode import to_json
from khiip_sidecar.wire.routes import VERBS

Endpoint = Callable[[Operations, Request], object]

CALLS: dict[str, Endpoint] = {
    "health": lambda do, request: do.health(),
    "meta": lambda do, request: do.meta(),
    "recall": lambda do, request: do.recall(_params(request), **_unread(request)),
    "related": lambda do, request: do.related(_params(request)),
    "index": lambda do, request: do.index_state(),
    "start_index": lambda do, request: do.start_index(_body(request)),
    "refetch": lambda do, request: do.refetch(_id(request), _params(request)),
    "access": lambda do, request: do.access(_id(request)),
    "capture": lambda do, request: do.capture(_id(request)),
    "captures": lambda do, request: do.captures(_params(request)),
}

# So many of these are answered at once, the others wait: more threads make none of them faster,
# and each has pages of the cache for itself. What only says how things are never waits for them.
READING = frozenset({"recall", "related", "captures", "capture"})
READING_AT_ONCE = 8

MCP_PATH = "/mcp"  # no verb of the wire: agents speak a protocol of their own there


def make_app(operations: Operations, access: Access, agents: Application | None = None) -> RestApp:
    """The whole REST face as an ASGI application; `agents` answers what is posted to `/mcp`."""
    return RestApp(operations, access, agents)


class RestApp:
    """Errors, guard and routes in one; `routes` holds (path, method) of all of the REST face."""

    def __init__(
        self, operations: Operations, access: Access, agents: Application | None = None
    ) -> None:
        self._agents = agents
        self._streams = ProgressStreams(operations.progress)
        resources = _resources(operations, self._streams)
        self.routes = {
            (path.replace("{id:path}", "{id}"), method)
            for path, resource in resources.items()
            for method in resource.methods
        }
        if agents is not None:
            resources[MCP_PATH] = _Resource()
            resources[MCP_PATH].take("POST", agents)
        self._app = ErrorEdge(Guard(_Routes(resources), access))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    def close(self) -> None:
        """End the streams that would not end themselves; called in the event loop."""
        self._streams.close()
        if self._agents is not None:
            self._agents.close()


class _Routes:
    """The route table; an address that it does not hold becomes one of our own errors."""

    def __init__(self, resources: Mapping[str, _Resource]) -> None:
        routes = [Route(path, resource) for path, resource in resources.items()]
        self._router = Router(routes, redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self  # makes the router raise where it would answer in plain text
        try:
            await self._router(scope, receive, send)
        except HTTPException as error:
            raise no_such_address() from error


class _Resource:
    """One address with its verbs; HEAD is GET without the body, which the server leaves out."""

    def __init__(self) -> None:
        self._verbs: dict[str, App] = {}

    def take(self, method: str, app: App) -> None:
        """Answer one more verb here."""
        self._verbs[method] = app
        if method == "GET":
            self._verbs["HEAD"] = app

    @property
    def methods(self) -> list[str]:
        """What Allow says."""
        return list(self._verbs)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._verbs.get(scope["method"])
        if app is None:
            raise method_not_allowed(", ".join(self.methods).encode())
        await app(scope, receive, send)


class _Call:
    """One operation: reading, searching and encoding all block, so they leave the event loop."""

    def __init__(
        self,
        operations: Operations,
        endpoint: Endpoint,
        status: int,
        room: AbstractAsyncContextManager[object],
    ) -> None:
        self._operations = operations
        self._endpoint = endpoint
        self._status = status
        self._room = room

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._room:
            body = await run_in_threadpool(self._answer, scope)
        if self._status == 204:
            return await send_nothing(send)
        return await send_bytes(send, self._status, body)

    def _answer(self, scope: Scope) -> bytes:
        return to_json(self._endpoint(self._operations, Request(scope)))


def _resources(operations: Operations, streams: ProgressStreams) -> dict[str, _Resource]:
    """An app for every verb of the wire, by the path that the router knows it under."""
    apps: dict[str, App] = {"follow_index": streams, **page_apps()}
    resources: dict[str, _Resource] = {}
    reading, others = asyncio.Semaphore(READING_AT_ONCE), nullcontext()
    for verb in VERBS:
        room = reading if verb.name in READING else others
        app = apps.get(verb.name) or _Call(operations, CALLS[verb.name], verb.status, room)
        path = verb.path.replace("{id}", "{id:path}")  # an id may hold slashes
        resources.setdefault(path, _Resource()).take(verb.method, app)
    return resources


def _params(request: Request) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    return given


def _unread(request: Request) -> dict[str, bool]:
    """What says that the hits count as read by nobody: an answer is sent without its body."""
    return {"read": False} if request.method == "HEAD" else {}


def _id(request: Request) -> str:
    capture_id: str = request.path_params["id"]
    return capture_id


def _body(request: Request) -> object:
    """The body as JSON, an empty object when there is none; the guard has read and limited it."""
    raw: bytes = request.scope["khiip.body"]
    if not raw:
        return {}
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "The body is not valid JSON.", hint='For example {"full": true}.', code="bad_json"
        ) from error
    return body
