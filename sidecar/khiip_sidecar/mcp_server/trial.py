"""A client of our own that tries a server: handshake, and each tool, resource and prompt once."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

import anyio
from mcp import types
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from khiip_sidecar.mcp_server.clients import Entry
from khiip_sidecar.mcp_server.resources import STATUS

STEP_SECONDS = 30.0
SLOW_START_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was tried: how long it took, what came of it, what helps."""

    step: str
    ok: bool
    seconds: float
    said: str
    hint: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def try_server(entry: Entry) -> list[Step]:
    """Start the server as a client would and try it; what is wrong is a step that is not ok."""
    return anyio.run(_try, entry)


async def _try(entry: Entry) -> list[Step]:
    parameters = StdioServerParameters(
        command=entry.words[0], args=list(entry.words[1:]), env=dict(entry.environment)
    )
    steps: list[Step] = []
    try:
        async with (
            stdio_client(parameters) as (read, write),
            ClientSession(read, write) as session,
        ):
            await _walk(session, steps)
    except Exception as error:  # noqa: BLE001 - whatever it is, the person is told
        hint = "Run the command that `khiipd mcp install` prints in a terminal."
        steps.append(Step("start", False, 0.0, f"{type(error).__name__}: {error}", hint))
    return steps


async def _walk(session: ClientSession, steps: list[Step]) -> None:
    await _step(steps, "initialize", session.initialize, _greeting)
    if not steps[-1].ok:
        return
    await _step(steps, "list tools", session.list_tools, lambda got: f"{len(got.tools)} tools")
    await _tool(session, steps, "recall", {"limit": 3})
    await _tool(session, steps, "recall", {"query": "what is new", "limit": 1})
    rows = await _tool(session, steps, "list_captures", {"limit": 1})
    for row in (rows or {}).get("captures", []):
        await _tool(session, steps, "get_capture", {"id": row["id"], "limit": 200})
    await _step(
        steps, "resources", lambda: session.read_resource(STATUS), lambda _got: "status was read"
    )
    await _step(steps, "prompts", session.list_prompts, lambda got: f"{len(got.prompts)} prompts")


def _greeting(got: types.InitializeResult) -> str:
    return f"{got.server_info.name} {got.server_info.version}, protocol {got.protocol_version}"


async def _tool(
    session: ClientSession, steps: list[Step], name: str, arguments: dict[str, Any]
) -> dict[str, Any] | None:
    asked = {**arguments, "mark_accessed": False} if name == "recall" else arguments
    result = await _step(steps, f"call {name}", lambda: session.call_tool(name, asked), _outcome)
    data: dict[str, Any] | None = result.structured_content if result is not None else None
    if result is not None and result.is_error:
        last, error = steps.pop(), data or {}
        said = f"{error.get('detail')} ({error.get('error')})"
        steps.append(Step(last.step, False, last.seconds, said, error.get("hint")))
        return None
    return data


def _outcome(got: types.CallToolResult) -> str:
    data = got.structured_content or {}
    rows = next((data[name] for name in ("results", "entities", "captures") if name in data), None)
    if rows is not None:
        return f"{len(rows)} rows"
    return f"{data.get('returned_chars')} of {data.get('total_chars')} characters"


async def _step(
    steps: list[Step],
    name: str,
    do: Callable[[], Awaitable[Any]],
    tell: Callable[[Any], str],
) -> Any:  # noqa: ANN401 - whatever the session gives
    began = time.monotonic()
    try:
        with anyio.fail_after(STEP_SECONDS):
            got = await do()
    except TimeoutError:
        steps.append(Step(name, False, STEP_SECONDS, "no answer", "See what the server logs."))
        return None
    except Exception as error:  # noqa: BLE001 - one step's failure is a finding
        steps.append(Step(name, False, time.monotonic() - began, str(error)))
        return None
    steps.append(Step(name, True, time.monotonic() - began, tell(got)))
    return got
