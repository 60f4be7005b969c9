"""The routes: each reads its request, calls one operation, and sends what that gives."""

from __future__ import annotations

import json
from collections.abc import Callable

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
)
from khiip_sidecar.http.security import Access, Guard
from khiip_sidecar.operations import Operations
from khiip_sidecar.wire.encode import to_json

Endpoint = Callable[[Request], object]


def make_app(operations: Operations, access: Access) -> App:
    """The whole REST face as an ASGI application."""
    return ErrorEdge(Guard(_Routes(operations), access))


class _Routes:
    """The route table; an address that it does not hold becomes one of our own errors."""

    def __init__(self, operations: Operations) -> None:
        routes = [Route(path, resource) for path, resource in _table(operations)]
        self._router = Router(routes, redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self  # makes the router raise where it would answer in plain text
        try:
            await self._router(scope, receive, send)
        except HTTPException as error:
            raise no_such_address() from error


class _Resource:
    """One address with its verbs; HEAD is GET without the body, which the server leaves out."""

    def __init__(
        self, *, get: Endpoint | None = None, post: Endpoint | None = None, status: int = 200
    ) -> None:
        self._verbs = {"GET": get, "HEAD": get, "POST": post}
        self._post_status = status
        self._allow = ", ".join(verb for verb, does in self._verbs.items() if does).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._verbs.get(scope["method"])
        if endpoint is None:
            raise method_not_allowed(self._allow)
        # Reading, searching and encoding all block, so all of it leaves the event loop.
        body = await run_in_threadpool(lambda: to_json(endpoint(Request(scope))))
        await send_bytes(send, self._post_status if scope["method"] == "POST" else 200, body)


def _table(operations: Operations) -> list[tuple[str, _Resource]]:
    """Ids may hold slashes, so the longer address comes first."""
    do = operations
    return [
        ("/health", _Resource(get=lambda request: do.health())),
        ("/api/v1/meta", _Resource(get=lambda request: do.meta())),
        ("/api/v1/recall", _Resource(get=lambda request: do.recall(_params(request)))),
        ("/api/v1/related", _Resource(get=lambda request: do.related(_params(request)))),
        (
            "/api/v1/index",
            _Resource(
                get=lambda request: do.index_state(),
                post=lambda request: do.start_index(_body(request)),
                status=202,
            ),
        ),
        (
            "/api/v1/captures/{id:path}/refetch",
            _Resource(post=lambda request: do.refetch(_id(request), _params(request))),
        ),
        ("/api/v1/captures/{id:path}", _Resource(get=lambda request: do.capture(_id(request)))),
        ("/api/v1/captures", _Resource(get=lambda request: do.captures(_params(request)))),
    ]


def _params(request: Request) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    return given


def _id(request: Request) -> str:
    capture_id: str = request.path_params["id"]
    return capture_id


def _body(request: Request) -> object:
    """The body as JSON, None when there is none; it was read and limited by the guard."""
    raw: bytes = request.scope["khiip.body"]
    if not raw.strip():
        return None
    try:
        body: object = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "The body is not valid JSON.", hint='For example {"full": true}.', code="bad_json"
        ) from error
    return body
