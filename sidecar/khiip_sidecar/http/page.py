"""The page at /docs, its files and the description it shows; nothing comes from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.concurrency import run_in_threadpool

from khiip_sidecar.http.answers import (
    App,
    Header,
    Receive,
    Scope,
    Send,
    no_such_address,
    send_bytes,
    send_file,
)
from khiip_sidecar.wire.encode import to_json
from khiip_sidecar.wire.routes import ASSETS

# Scripts and styles of this service alone. Pictures in the style sheet are data URIs.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
KINDS = {"html": "text/html; charset=utf-8", "js": "text/javascript", "css": "text/css"}


def page_apps() -> dict[str, App]:
    """The page's verbs by their names on the wire."""
    return {
        "openapi": _description,
        "docs": _file(lambda scope: "page.html"),
        "asset": _file(_asset),
    }


async def _description(scope: Scope, receive: Receive, send: Send) -> None:
    await send_bytes(send, 200, await run_in_threadpool(_described))


@cache
def _described() -> bytes:
    from khiip_sidecar.wire.openapi import description

    return to_json(description())


def _file(name_of: Callable[[Scope], str]) -> App:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        name = name_of(scope)
        body = await run_in_threadpool(_place(name).read_bytes)
        await send_file(send, body, KINDS[name.rpartition(".")[2]], HEADERS)

    return app


def _asset(scope: Scope) -> str:
    name: str = scope["path_params"]["asset"]
    if name not in ASSETS:
        raise no_such_address()
    return name


def _place(name: str) -> Traversable:
    if not name.startswith("swagger-ui"):
        return files("khiip_sidecar.http") / "static" / name
    import mkdocs_swagger_ui_tag  # ships Swagger UI; its own code, for MkDocs, is not loaded

    folder = "stylesheets" if name.endswith(".css") else "javascripts"
    return files(mkdocs_swagger_ui_tag) / "swagger-ui" / folder / name
