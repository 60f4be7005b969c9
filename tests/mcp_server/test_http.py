"""`/mcp` in the sidecar: the guard in front of it, one-off requests, the stop."""

from __future__ import annotations

import http.client
import json
import threading
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp_server.conftest import NOTES
from mcp_server.talk import HELLO, over_http
from serving import Served, serving
from support import FakeEmbedder, make_vault

BOTH = "application/json, text/event-stream"


def post(served: Served, body: object, **headers: str) -> tuple[int, dict[str, str], bytes]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    given = {
        "Authorization": f"Bearer {served.key}",
        "Accept": BOTH,
        "Content-Type": "application/json",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection.request("POST", "/mcp", raw, {name: text for name, text in given.items() if text})
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    return response.status, {key.lower(): text for key, text in response.getheaders()}, answer


def event(raw: bytes) -> Any:
    """The one message of an event stream."""
    [line] = [each for each in raw.splitlines() if each.startswith(b"data: {")]
    return json.loads(line[6:])


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example:8478"}, 403, "forbidden_host"),
        ({"Origin": "https://evil.example"}, 403, "forbidden_origin"),
        ({"Authorization": ""}, 401, "unauthorized"),
        ({"Authorization": "Bearer khiip_wrong"}, 401, "unauthorized"),
        ({"Content_Type": "text/plain"}, 415, "unsupported_media_type"),
    ],
)
def test_the_guard_stands_before_the_protocol(
    served: Served, headers: dict[str, str], status: int, code: str
) -> None:
    got, _, raw = post(served, HELLO, **headers)
    assert (got, json.loads(raw)["error"]) == (status, code)


def test_only_posts_are_taken_and_there_are_no_sessions(served: Served) -> None:
    for method in ("GET", "DELETE", "PUT"):
        status, data, headers = served.ask("/mcp", method)
        assert (status, data["error"]) == (405, "method_not_allowed")
        assert headers["allow"] == "POST"
    status, headers, raw = post(served, HELLO)
    assert status == 200
    assert "mcp-session-id" not in headers
    assert event(raw)["result"]["serverInfo"]["name"] == "khiip"


def test_a_request_stands_for_itself(served: Served) -> None:
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call"}
    raw = post(served, {**call, "params": {"name": "list_captures", "arguments": {}}})[2]
    assert event(raw)["result"]["structuredContent"]["total"] == 4


@pytest.mark.parametrize("body", [b"", b"junk", b"[]", b'{"jsonrpc":"2.0"', b"[" * 50_000])
def test_what_is_no_message_is_refused_in_json(served: Served, body: bytes) -> None:
    status, headers, raw = post(served, body)
    assert 400 <= status < 500
    assert headers["content-type"].startswith("application/json")
    sentence = json.loads(raw)["error"]["message"]
    assert sentence.endswith(".")
    assert not {"JSONRPCRequest", "pydantic", "line 1 column"} & set(sentence.split())
    assert len(sentence) < 100


@pytest.mark.parametrize("call", [HELLO, {"jsonrpc": "2.0", "id": 0, "method": "tools/list"}])
def test_a_version_that_nobody_speaks_is_refused_with_those_that_are_served(
    served: Served, call: dict[str, Any]
) -> None:
    status, _, raw = post(served, call, MCP_Protocol_Version="1999-01-01")
    answer = json.loads(raw)
    assert (status, answer["id"]) == (400, 0)
    assert "Version 1999-01-01 of the protocol" in answer["error"]["message"]
    assert "2025-06-18" in answer["error"]["message"]
    assert post(served, call, MCP_Protocol_Version="2025-06-18")[0] == 200


def test_half_an_emoji_in_a_query_is_no_fault(served: Served) -> None:
    body = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall",'
        b'"arguments":{"query":"knots \\ud83d in","match":"lexical"}}}'
    )
    status, _, raw = post(served, body)
    assert status == 200
    assert event(raw)["result"]["isError"] is False


def test_a_body_over_the_limit_is_refused(served: Served) -> None:
    status, _, raw = post(served, {**HELLO, "id": "x" * 70_000})
    assert (status, json.loads(raw)["error"]) == (413, "body_too_large")


class SlowEmbedder(FakeEmbedder):
    """Holds the first reading up until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def embed(self, texts: Any) -> Any:
        self.go.wait(10)
        return super().embed(texts)


def test_a_first_reading_is_reported_to_who_asked_for_progress(tmp_path: Path) -> None:
    embedder = SlowEmbedder()
    lines: list[str | None] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        assert (progress > 0, total) == (True, None)
        lines.append(message)
        embedder.go.set()

    async def body(served: Served) -> None:
        async with over_http(served) as session:
            result = await session.call_tool("list_captures", {}, progress_callback=heard)
            assert result.structured_content is not None
            assert result.structured_content["total"] == 4

    with serving(make_vault(tmp_path / "vault", NOTES), embedder) as served:
        anyio.run(body, served)
    assert lines
    assert lines[0] is not None
    assert lines[0].startswith("The vault is being read for the first time: ")


def test_the_service_stops_in_time_though_a_call_waits(tmp_path: Path) -> None:
    embedder = SlowEmbedder()
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call"}
    meta = {"progressToken": 1}
    params = {"name": "list_captures", "arguments": {}, "_meta": meta}
    with serving(make_vault(tmp_path / "vault", NOTES), embedder) as served:
        post(served, HELLO)
        waiting = threading.Thread(target=_quietly, args=(served, {**call, "params": params}))
        waiting.start()
        time.sleep(0.3)
        began = time.monotonic()
        served.daemon.stop()
        waiting.join(5)
        embedder.go.set()
        assert not waiting.is_alive()
    assert time.monotonic() - began < 5


def _quietly(served: Served, body: object) -> None:
    try:
        post(served, body)
    except (OSError, http.client.HTTPException):
        return  # cut off by the stop, as it may
