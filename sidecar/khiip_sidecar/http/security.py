"""Who may ask: Host, Origin, key and body are checked before any route is looked at.

Listening on loopback alone does not stop a browser: a page whose name is rebound to 127.0.0.1
counts as same-origin, so only the Host header tells it apart from a local program.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from khiip_sidecar.http.answers import (
    App,
    Header,
    HttpError,
    Message,
    Receive,
    Scope,
    Send,
    send_error,
    send_nothing,
)
from khiip_sidecar.wire.routes import open_paths

OPEN_PATHS = open_paths()
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
APP_ORIGINS = frozenset({"app://obsidian.md", "capacitor://localhost"})
MAX_BODY_BYTES = 64 * 1024
BODY_SECONDS = 20.0
METHODS = b"GET, HEAD, POST, OPTIONS"

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.ASCII)
_WEB_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Access:
    """What the guard goes by: names of the address bound to, and the key as it is now."""

    bound: tuple[str, ...]
    key: Callable[[], str]

    @property
    def hosts(self) -> frozenset[str]:
        """Every name that a Host header may hold."""
        names = (f"[{name}]" if ":" in name else name for name in self.bound)
        return LOOPBACK_NAMES.union(name.lower() for name in names)


class Guard:
    """ASGI layer in front of all routes; refuses with 400, 401, 403, 408, 413 or 415."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access
        self._hosts = access.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._refuse_socket(scope, receive, send)
        headers = scope["headers"]
        origin: bytes | None = None
        try:
            check_host(_all(headers, b"host"), self._hosts)
            origin = check_origin(_all(headers, b"origin"))
        except HttpError as error:
            return await send_error(send, error)
        shared = _with_cors(send, origin)
        if origin and _is_preflight(scope):
            return await send_nothing(shared, _preflight_headers(headers))
        try:
            if scope["path"] not in OPEN_PATHS:
                check_key(_all(headers, b"authorization"), self._access.key())
            scope["khiip.body"] = body = await read_body(headers, receive)
            check_type(body, _all(headers, b"content-type"))
        except HttpError as error:
            return await send_error(shared, error)
        return await self._app(scope, _replay(body, receive), shared)

    async def _refuse_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})


def check_host(hosts: Sequence[bytes], allowed: frozenset[str]) -> None:
    """One Host header that names the bound address or this machine, with any port."""
    match = _HOST.fullmatch(hosts[0].decode("latin-1").lower()) if len(hosts) == 1 else None
    if match is None or match[1] not in allowed:
        raise HttpError(
            403,
            "forbidden_host",
            "This service does not answer to that host name.",
            hint=f"Use one of: {', '.join(sorted(allowed))}.",
        )


def check_origin(origins: Sequence[bytes]) -> bytes | None:
    """The Origin when there is one; a page from elsewhere is refused."""
    if not origins:
        return None
    text = origins[0].decode("latin-1").lower()
    match = _WEB_ORIGIN.fullmatch(text)
    known = text in APP_ORIGINS or (match is not None and match[1] in LOOPBACK_NAMES)
    if len(origins) > 1 or not known:
        raise HttpError(
            403,
            "forbidden_origin",
            "Web pages from elsewhere may not use this service.",
            hint="Only Obsidian and pages of this machine may.",
        )
    return origins[0]


def check_key(given: Sequence[bytes], key: str) -> None:
    """The bearer key, compared in constant time."""
    scheme, _, token = given[0].strip().partition(b" ") if len(given) == 1 else (b"", b"", b"")
    right = hmac.compare_digest(token.strip(), key.encode())
    if scheme.lower() != b"bearer" or not right:
        raise HttpError(
            401,
            "unauthorized",
            "This needs the service's key." if not given else "The key is not the right one.",
            hint="Send `Authorization: Bearer KEY`; khiipd auth show prints the key.",
            headers=[(b"www-authenticate", b"Bearer")],
        )


async def read_body(headers: Sequence[Header], receive: Receive) -> bytes:
    """The whole body; one over the limit is refused before it is read, a torn one is not used."""
    for length in _all(headers, b"content-length"):
        if not length.isdigit() or len(length) > 9 or int(length) > MAX_BODY_BYTES:
            raise _too_large()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _received(receive)
    except TimeoutError as error:
        raise _torn(408, "request_timeout") from error


async def _received(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise _torn(400, "incomplete_body")
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise _too_large()
        if not message.get("more_body"):
            return bytes(body)


def check_type(body: bytes, types: Sequence[bytes]) -> None:
    """A body must say that it is JSON: a web form or plain text needs no leave of a browser."""
    kind = types[0].partition(b";")[0].strip().lower() if types else b""
    if body and kind != b"application/json":
        raise HttpError(
            415,
            "unsupported_media_type",
            "A body must be JSON.",
            hint="Send `Content-Type: application/json`, or no body.",
        )


def _torn(status: int, code: str) -> HttpError:
    return HttpError(
        status,
        code,
        "The body did not arrive whole.",
        hint="Send as many bytes as Content-Length says.",
        headers=[(b"connection", b"close")],
    )


def _too_large() -> HttpError:
    return HttpError(
        413,
        "body_too_large",
        f"A body may hold {MAX_BODY_BYTES} bytes at most.",
        hint="No request of this service needs more.",
        headers=[(b"connection", b"close")],
    )


def _all(headers: Sequence[Header], name: bytes) -> list[bytes]:
    return [value for key, value in headers if key == name]


def _is_preflight(scope: Scope) -> bool:
    asked = _all(scope["headers"], b"access-control-request-method")
    return scope["method"] == "OPTIONS" and bool(asked)


def _preflight_headers(headers: Sequence[Header]) -> list[Header]:
    answer = [
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", b"Authorization, Content-Type"),
        (b"access-control-max-age", b"600"),
    ]
    if b"true" in _all(headers, b"access-control-request-private-network"):
        answer.append((b"access-control-allow-private-network", b"true"))
    return answer


def _with_cors(send: Send, origin: bytes | None) -> Send:
    """Answers name the one origin that asked, never all; caches must keep origins apart."""

    async def shared(message: Message) -> None:
        if message["type"] == "http.response.start":
            extra = [(b"vary", b"Origin")]
            if origin is not None:
                extra.append((b"access-control-allow-origin", origin))
            message["headers"] = [*message.get("headers", ()), *extra]
        await send(message)

    return shared


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that was read already, then whatever the server says: that the client is gone."""
    waiting = [body]

    async def again() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return again
