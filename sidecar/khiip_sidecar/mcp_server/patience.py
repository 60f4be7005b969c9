"""While a vault is read for the first time: progress for a client that asked to hear of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext

from khiip_indexer.errors import KhiipError
from khiip_sidecar.client import Backend
from khiip_sidecar.wire.encode import Json

STEP_SECONDS = 0.25
MOST_STEPS = 80

Context = ServerRequestContext[Any, Any]
Ask = Callable[[Callable[[Backend], Json]], Awaitable[Json]]


async def wait_for_index(ctx: Context, ask: Ask) -> None:
    """Report what indexing does until the first reading is through, for 20 seconds at most.

    Nothing is waited for without a progress token: the answer then says what is not there yet.
    """
    if not wants_progress(ctx.meta):
        return
    for step in range(MOST_STEPS):
        try:
            state = await ask(lambda backend: backend.index_state())
        except KhiipError:
            return  # the call itself meets the same, and says it
        if not is_first_reading(state):
            return
        await ctx.session.report_progress(step + 1, None, progress_line(state))
        await anyio.sleep(STEP_SECONDS)


def wants_progress(meta: Mapping[str, object] | None) -> bool:
    """Whether a request carries a progress token."""
    return meta is not None and meta.get("progress_token") is not None


def is_first_reading(state: Json) -> bool:
    """Whether the vault is being read and has never been read whole."""
    return state["state"] in ("warming", "indexing") and state["counts"]["last_reconcile"] is None


def progress_line(state: Json) -> str:
    """What indexing does, in one line."""
    phase = state["phase"] or "starting"
    done = f" {state['done']} of {state['total']}" if state["total"] else ""
    return f"The vault is being read for the first time: {phase}{done}."
