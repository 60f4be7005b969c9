"""The SDK's own client over both transports: the same behaviours, and REST's own answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import types
from mcp.client.client import Client
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import FileUrl

from khiip_indexer.config import Settings
from mcp_server.talk import environment_of, over_http, over_stdio, words_for
from serving import Served

Opened = Callable[[], AbstractAsyncContextManager[ClientSession]]
Body = Callable[[ClientSession], Awaitable[None]]
LEXICAL = {"match": "lexical", "mark_accessed": False}


@pytest.fixture(params=["stdio", "http"])
def face(request: pytest.FixtureRequest) -> Callable[[Body], None]:
    """Runs a body with a session; over stdio the server is a process that reads the index."""
    vault: Settings = request.getfixturevalue("vault")
    served: Served = request.getfixturevalue("served")
    opened: Opened = (
        (lambda: over_stdio(vault)) if request.param == "stdio" else (lambda: over_http(served))
    )

    async def run(body: Body) -> None:
        async with opened() as session:
            await body(session)

    return lambda body: anyio.run(run, body)


def data(result: types.CallToolResult) -> dict[str, Any]:
    """The structure of a result, which its text is too."""
    assert result.structured_content is not None
    [content] = result.content
    assert isinstance(content, types.TextContent)
    assert json.loads(content.text) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


def test_tools_are_listed_called_and_answer_as_rest_does(
    face: Callable[[Body], None], served: Served
) -> None:
    async def body(session: ClientSession) -> None:
        tools = {each.name: each for each in (await session.list_tools()).tools}
        assert list(tools) == ["recall", "list_captures", "get_capture"]
        assert tools["recall"].annotations is not None
        assert tools["recall"].annotations.destructive_hint is False

        found = data(await session.call_tool("recall", {"query": "knots", **LEXICAL}))
        rest = served.ask(
            "/api/v1/recall?q=knots&view=lean&match=lexical&rank=composite&mark_accessed=false"
        )[1]
        ours, theirs = ([_same(row) for row in each["results"]] for each in (found, rest))
        assert ours == theirs
        assert ours

        one = data(await session.call_tool("get_capture", {"id": found["results"][0]["id"]}))
        assert one["text"] == "Knots in cords kept count."
        listed = data(await session.call_tool("list_captures", {"folder": '["Notes"]'}))
        assert [row["title"] for row in listed["captures"]] == ["Quipu", "Tides"]
        overview = data(await session.call_tool("recall", {}))
        assert [each["name"] for each in overview["entities"]] == ["Harbour"]

    face(body)


def _same(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what tells two vaults of the same notes apart: dates of files, heat."""
    kept = ("id", "url", "source", "title", "author", "vault_path", "excerpt")
    return {name: row[name] for name in kept}


def test_errors_are_those_of_rest(face: Callable[[Body], None], served: Served) -> None:
    async def body(session: ClientSession) -> None:
        for arguments, asked in (
            ({"query": "a", "folder": "../out"}, "q=a&folder=../out"),
            ({"path": "C:\\x"}, "path=C:%5Cx"),
            ({"query": "a", "source": "redit"}, "q=a&source=redit"),
            ({"query": "a", "limit": 0}, "q=a&limit=0"),
            ({"query": "a", "kind": "person"}, "q=a&kind=person"),
            ({"path": "Notes", "minMemories": 2}, "path=Notes&min_memories=2"),
        ):
            result = await session.call_tool("recall", arguments)
            assert result.is_error
            assert data(result) == served.ask(f"/api/v1/recall?{asked}")[1]

    face(body)


def test_resources_have_addresses_pages_and_a_state(face: Callable[[Body], None]) -> None:
    async def body(session: ClientSession) -> None:
        listed = (await session.list_resources()).resources
        assert str(listed[0].uri) == "khiip://status"
        quipu = next(each for each in listed if each.name == "Notes/Quipu.md")
        text = await _text(session, str(quipu.uri))
        assert text == "Knots in cords kept count."
        page = await _text(session, f"{quipu.uri}?offset=6&limit=2")
        assert page.startswith("in\n\n[8 of 26 characters; go on at khiip://capture/")
        state = json.loads(await _text(session, "khiip://status"))
        assert state["health"]["index"]["notes"] == 4
        templates = (await session.list_resource_templates()).resource_templates
        assert next(each.uri_template for each in templates) == "khiip://capture/{id}"
        for wrong in ("khiip://capture/nobody", "khiip://else", "file:///etc/passwd"):
            with pytest.raises(MCPError) as caught:
                await session.read_resource(wrong)
            assert caught.value.error.data["error"] == "not_found"

    face(body)


async def _text(session: ClientSession, uri: str) -> str:
    [content] = (await session.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    return content.text


def test_prompts_tell_how_to_recall_and_their_arguments_are_completed(
    face: Callable[[Body], None],
) -> None:
    async def body(session: ClientSession) -> None:
        prompts = {each.name: each for each in (await session.list_prompts()).prompts}
        assert set(prompts) == {"recall-before-acting", "what-do-i-know-about"}
        got = await session.get_prompt("recall-before-acting", {"task": "Move the buoys"})
        [message] = got.messages
        assert isinstance(message.content, types.TextContent)
        assert "Move the buoys" in message.content.text
        assert 'layer="caveat"' in message.content.text
        with pytest.raises(MCPError, match="`topic` is missing"):
            await session.get_prompt("what-do-i-know-about", {"topic": " "})
        ref = types.PromptReference(name="what-do-i-know-about")
        for argument, typed, values in (
            ("entity", "har", ["Harbour"]),
            ("tag", "#his", ["history"]),
            ("folder", "no", ["Notes"]),
            ("folder", "zz", []),
            ("else", "a", []),
        ):
            done = await session.complete(ref, {"name": argument, "value": typed})
            assert done.completion.values == values

    face(body)


def test_the_newest_protocol_is_spoken_over_both_transports(
    vault: Settings, served: Served
) -> None:
    async def tried(client: Client) -> None:
        assert client.protocol_version == "2026-07-28"
        assert len((await client.list_tools()).tools) == 3
        result = await client.call_tool("list_captures", {"limit": 1})
        assert result.structured_content is not None
        assert result.structured_content["total"] == 4

    async def run() -> None:
        headers = {"Authorization": f"Bearer {served.key}"}
        url = f"http://127.0.0.1:{served.port}/mcp"
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            await tried(client)
        command, *args = words_for(vault)
        parameters = StdioServerParameters(command=command, args=args, env=environment_of(vault))
        async with Client(parameters) as client:
            await tried(client)

    anyio.run(run)


def test_the_newest_protocol_has_roots_too(vault: Settings, tmp_path: Path) -> None:
    asked = []

    async def roots(context: object) -> types.ListRootsResult:
        asked.append(context is not None)
        uri = FileUrl((vault.vault / "Notes").as_uri())
        return types.ListRootsResult(roots=[types.Root(uri=uri)])

    async def run() -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "khiip_sidecar", "mcp"],
            env=environment_of(vault),
            cwd=tmp_path,
        )
        async with Client(parameters, list_roots_callback=roots) as client:
            for _ in range(2):
                result = await client.call_tool("list_captures", {})
                assert result.structured_content is not None
                assert result.structured_content["total"] == 4

    anyio.run(run)
    assert asked == [True]
