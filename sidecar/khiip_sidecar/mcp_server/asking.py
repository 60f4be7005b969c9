"""How a client is asked for its folders: by a request of ours, or with its own call sent back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from khiip_sidecar.mcp_server.roots import paths_of

Context = ServerRequestContext[Any, Any]

ROOTS = "roots"
ROOTS_SECONDS = 2.0


async def asked_roots(ctx: Context) -> list[Path]:
    """The client's folders; none when it has none, or does not say in time."""
    if not _has_roots(ctx) or not ctx.session.can_send_request:
        return []
    try:
        result = await ctx.session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, ROOTS_SECONDS
        )
    except MCPError:
        return []
    return _paths(result)


def ask_for_roots(
    ctx: Context, params: types.CallToolRequestParams
) -> types.InputRequiredResult | None:
    """The call sent back for the client's folders; None when it need not, or cannot, be asked so.

    Newer versions of the protocol have no requests from server to client: the client calls again
    with what was wanted.
    """
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    if not modern or not _has_roots(ctx) or params.input_responses is not None:
        return None
    return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})


def given_roots(params: types.CallToolRequestParams) -> list[Path]:
    """The folders that came with a call that was sent back."""
    result = (params.input_responses or {}).get(ROOTS)
    return _paths(result) if isinstance(result, types.ListRootsResult) else []


def _has_roots(ctx: Context) -> bool:
    able = ctx.session.client_capabilities
    return able is not None and able.roots is not None


def _paths(result: types.ListRootsResult) -> list[Path]:
    return paths_of(str(each.uri) for each in result.roots)
