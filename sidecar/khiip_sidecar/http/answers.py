"""JSON answers on the bare ASGI interface, and the table from failures to them."""

from __future__ import annotations

import asyncio
import http
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from khiip_indexer.errors import KhiipError
from khiip_sidecar.wire.encode import error_body, to_json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

log = logging.getLogger(__name__)

JSON_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


class HttpError(KhiipError):
    """A fault of the HTTP request as such; `headers` go out with the answer."""

    def __init__(
        self,
        status: int,
        code: str,
        sentence: str,
        hint: str | None = None,
        headers: Iterable[Header] = (),
    ) -> None:
        super().__init__(sentence, hint=hint, code=code)
        self.http_status = status
        self.headers = tuple(headers)


def method_not_allowed(allow: bytes) -> HttpError:
    """A 405 that names the right methods."""
    return HttpError(
        405,
        "method_not_allowed",
        "This address does not take that method.",
        hint=f"It takes {allow.decode('latin-1')}.",
        headers=[(b"allow", allow)],
    )


def no_such_address() -> HttpError:
    """A 404 for a path that no route has."""
    return HttpError(404, "not_found", "There is nothing at this address.", hint="See /docs.")


async def send_error(send: Send, error: KhiipError) -> None:
    """One error as `{"detail", "error", "hint"}` with its status."""
    headers = error.headers if isinstance(error, HttpError) else ()
    await send_bytes(send, error.http_status, to_json(error_body(error)), headers)


async def send_nothing(send: Send, headers: Iterable[Header] = ()) -> None:
    """A 204, which has neither a body nor a length or type of one."""
    start = {"status": 204, "headers": [(b"cache-control", b"no-store"), *headers]}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": b""})


async def send_bytes(send: Send, status: int, body: bytes, headers: Iterable[Header] = ()) -> None:
    """One whole JSON answer."""
    length = (b"content-length", str(len(body)).encode())
    start = {"status": status, "headers": [*JSON_HEADERS, length, *headers]}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": body})


async def send_file(send: Send, body: bytes, kind: str, headers: Iterable[Header]) -> None:
    """One whole file of the page, of a media type; a new version of the program shows at once."""
    start = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-cache"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": [*start, *headers]})
    await send({"type": "http.response.body", "body": body})


class ErrorEdge:
    """The outermost layer: whatever goes wrong inside leaves as JSON, never as a traceback."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            # Only the end of the service cancels: who has no answer yet is told, the rest is cut.
            if not started:
                await send_error(send, _stopping())
        except KhiipError as error:
            if started:
                raise
            await send_error(send, error)
        except Exception as error:
            # A fault of ours: the client gets a code, the log one line with its place.
            log.error("%s failed: %s", _place(scope), _origin(error))  # noqa: TRY400
            if started:
                raise
            await send_error(send, _internal(error))


def _stopping() -> HttpError:
    return HttpError(503, "stopping", "The service is being stopped.", hint="Start it again.")


def _internal(error: Exception) -> KhiipError:
    return KhiipError(
        f"{http.HTTPStatus(500).phrase}: the service met a fault of its own.",
        hint="See the service's log; khiipd doctor may find the cause.",
    )


def _place(scope: Scope) -> str:
    return f"{scope.get('method')} {scope.get('path')!r}"


def _origin(error: Exception) -> str:
    """The error and the line that raised it, on one line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"
    return f"{type(error).__name__}: {' '.join(str(error).split())} ({where})"
