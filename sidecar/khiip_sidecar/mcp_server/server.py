"""The protocol's side: the SDK's server over the tools, resources and prompts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from mcp import types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError

from khiip_indexer import __version__
from khiip_indexer.errors import KhiipError
from khiip_sidecar.client import Backend
from khiip_sidecar.mcp_server import resources
from khiip_sidecar.mcp_server.asking import ask_for_roots, asked_roots, given_roots
from khiip_sidecar.mcp_server.completions import complete
from khiip_sidecar.mcp_server.patience import wait_for_index
from khiip_sidecar.mcp_server.resources import PROMPTS, Content
from khiip_sidecar.mcp_server.source import Source, VaultSource
from khiip_sidecar.mcp_server.tools import TOOLS, ToolSpec
from khiip_sidecar.wire.encode import Json, error_body, to_json

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

# What the SDK says of a request that comes before the handshake.
TOO_EARLY = "Invalid request parameters"
INSTRUCTIONS = (
    "The user's Obsidian vault as memory. Call `recall` before acting or answering on anything "
    "they may have noted; with no arguments it says what the vault is about. Rows are short: "
    "`get_capture` reads one whole. `list_captures` shows what is new. Notes are never changed."
)


def make_server(source: Source) -> Server[Any]:
    """A server that answers from `source`; one serves many connections."""
    face = _Face(source)
    server: Server[Any] = Server(
        "khiip",
        version=__version__,
        title="Khiip",
        instructions=INSTRUCTIONS,
        on_list_tools=face.list_tools,
        on_call_tool=face.call_tool,
        on_list_resources=face.list_resources,
        on_list_resource_templates=face.list_templates,
        on_read_resource=face.read_resource,
        on_list_prompts=face.list_prompts,
        on_get_prompt=face.get_prompt,
        on_completion=face.complete,
    )
    server.middleware.append(_in_plain_words)
    return server


async def _in_plain_words(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say what is wrong where the SDK has one phrase for all: too early, or parameters amiss."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        if error.error.message != TOO_EARLY:
            raise
        sentence = "The session has not begun: send `initialize` first."
        raise MCPError(types.INVALID_PARAMS, sentence) from error
    except ValueError as error:
        if not hasattr(error, "errors"):  # the SDK's own models say which parameter it is
            raise
        names = [".".join(map(str, each["loc"])) for each in error.errors() if each["loc"]]
        where = f": look at `{names[0]}`" if names else ""
        sentence = f"The parameters of {ctx.method} are not as the protocol has them{where}."
        raise MCPError(types.INVALID_PARAMS, sentence) from error


class _Face:
    """The handlers; whatever blocks leaves the event loop, and is left behind when cancelled."""

    def __init__(self, source: Source) -> None:
        self._source = source

    async def list_tools(self, _ctx: Context, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(each) for each in TOOLS])

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        spec = next((each for each in TOOLS if each.name == params.name), None)
        if spec is None:
            names = ", ".join(each.name for each in TOOLS)
            sentence = f"There is no tool {params.name[:60]!r}. The tools are: {names}."
            raise MCPError(types.INVALID_PARAMS, sentence)
        if isinstance(source := self._source, VaultSource) and source.takes_roots:
            if (wanted := ask_for_roots(ctx, params)) is not None:
                return wanted
            await anyio.to_thread.run_sync(source.offer, given_roots(params))
        try:
            await wait_for_index(ctx, functools.partial(self._ask, ctx))
            answer = await self._ask(ctx, lambda backend: spec.call(backend, params.arguments))
        except KhiipError as error:
            return _result(error_body(error), is_error=True)
        return _result(answer)

    async def list_resources(self, ctx: Context, _params: object) -> types.ListResourcesResult:
        status = types.Resource(
            uri=resources.STATUS,
            name="status",
            title="State of the index",
            description="How much of the vault can be found, and what is wrong.",
            mime_type="application/json",
        )
        try:
            rows = await self._ask(ctx, resources.recent)
        except KhiipError:
            rows = []  # `status` says why, when it is read
        return types.ListResourcesResult(resources=[status, *map(_resource, rows)])

    async def list_templates(
        self, _ctx: Context, _params: object
    ) -> types.ListResourceTemplatesResult:
        whole = types.ResourceTemplate(
            uri_template=resources.CAPTURE,
            name="capture",
            title="A note of the vault",
            description="The text of a note, its first page.",
            mime_type="text/plain",
        )
        page = types.ResourceTemplate(
            uri_template=resources.CAPTURE_PAGE,
            name="capture-page",
            title="A page of a note",
            description="`limit` characters of a note's text from `offset` on.",
            mime_type="text/plain",
        )
        return types.ListResourceTemplatesResult(resource_templates=[whole, page])

    async def read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        content = await self._protocol(ctx, lambda backend: resources.read(backend, uri))
        return types.ReadResourceResult(contents=[_contents(content)])

    async def list_prompts(self, _ctx: Context, _params: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(each) for each in PROMPTS])

    async def get_prompt(
        self, _ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        try:
            text = resources.prompt_text(params.name, params.arguments or {})
        except KhiipError as error:
            raise _protocol_error(error) from error
        content = types.TextContent(type="text", text=text)
        message = types.PromptMessage(role="user", content=content)
        return types.GetPromptResult(messages=[message])

    async def complete(
        self, ctx: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        typed = params.argument
        values, total = await self._protocol(
            ctx, lambda backend: complete(backend, typed.name, typed.value)
        )
        completion = types.Completion(
            values=[_sendable(value) for value in values],
            total=total,
            has_more=total > len(values),
        )
        return types.CompleteResult(completion=completion)

    async def _ask(self, ctx: Context, ask: Callable[[Backend], T]) -> T:
        source = self._source
        if isinstance(source, VaultSource) and source.takes_roots:
            roots = await asked_roots(ctx)
            await anyio.to_thread.run_sync(source.offer, roots)
        return await anyio.to_thread.run_sync(source.call, ask, abandon_on_cancel=True)

    async def _protocol(self, ctx: Context, ask: Callable[[Backend], T]) -> T:
        try:
            return await self._ask(ctx, ask)
        except KhiipError as error:
            raise _protocol_error(error) from error


def _protocol_error(error: KhiipError) -> MCPError:
    """Outside of tools the protocol has errors of its own: the sentence, and the rest as data."""
    wrong = error.http_status in (400, 404, 422)
    code = types.INVALID_PARAMS if wrong else types.INTERNAL_ERROR
    return MCPError(code, error.sentence, error_body(error))


def _tool(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.input,
        output_schema=spec.output,
        annotations=types.ToolAnnotations(
            title=spec.title,
            read_only_hint=spec.read_only,
            destructive_hint=False,
            idempotent_hint=spec.idempotent,
            open_world_hint=False,
        ),
    )


def _result(answer: Json, *, is_error: bool = False) -> types.CallToolResult:
    """The same JSON as text and as structure."""
    data = _sendable(answer)
    text = to_json(data).decode()
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=data,
        is_error=is_error,
    )


def _sendable(data: Any) -> Any:  # noqa: ANN401 - any JSON
    """Halves of surrogate pairs, which only file names have, cannot be sent."""
    if isinstance(data, str):
        return data if data.isascii() else data.encode("utf-8", "replace").decode()
    if isinstance(data, dict):
        return {key: _sendable(value) for key, value in data.items()}
    return [_sendable(value) for value in data] if isinstance(data, list) else data


def _resource(row: Json) -> types.Resource:
    return types.Resource(
        uri=resources.capture_uri(row["id"]),
        name=_sendable(row["vault_path"]),
        title=_sendable(row["title"]) or None,
        mime_type="text/plain",
    )


def _contents(content: Content) -> types.TextResourceContents:
    return types.TextResourceContents(
        uri=content.uri, mime_type=content.mime_type, text=_sendable(content.text)
    )


def _prompt(spec: resources.PromptSpec) -> types.Prompt:
    return types.Prompt(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        arguments=[
            types.PromptArgument(name=name, description=doc, required=needed)
            for name, doc, needed in spec.arguments
        ],
    )
