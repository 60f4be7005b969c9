"""The MCP Inspector's command line lists and calls everything, over both transports."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from khiip_indexer.config import Settings
from mcp_server.talk import environment_of, words_for
from serving import Served

HOME = Path(__file__).parents[2] / ".cache" / "inspector"
PROGRAM = HOME.joinpath(
    *("node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher"),
    *("build", "index.js"),
)
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(
    NODE is None or not PROGRAM.is_file(),
    reason="needs node and the MCP Inspector: make .cache/inspector/.tried",
)

Inspect = Callable[..., Any]


@pytest.fixture(params=["stdio", "http"])
def inspect(request: pytest.FixtureRequest, tmp_path: Path) -> Inspect:
    """Runs one method; gives what the Inspector printed."""
    vault: Settings = request.getfixturevalue("vault")
    served: Served = request.getfixturevalue("served")
    target, header = (
        (words_for(vault), [])
        if request.param == "stdio"
        else (
            [f"http://127.0.0.1:{served.port}/mcp", "--transport", "http"],
            ["--header", f"Authorization: Bearer {served.key}"],
        )
    )
    assert NODE is not None
    start = [NODE, str(PROGRAM), "--cli"]
    environment = {**environment_of(vault), "HOME": str(tmp_path)}
    home = ["-e", f"KHIIP_HOME={environment['KHIIP_HOME']}"] if request.param == "stdio" else []

    def run(method: str, *words: str) -> Any:
        done = subprocess.run(
            [*start, *target, *home, *header, "--method", method, *words],
            capture_output=True,
            env=environment,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    return run


def test_tools_resources_and_prompts_are_listed_and_used(inspect: Inspect) -> None:
    tools = inspect("tools/list", "--strict")["tools"]
    assert [each["name"] for each in tools] == ["recall", "list_captures", "get_capture"]

    rows = inspect("tools/call", "--tool-name", "list_captures", "--tool-arg", "folder=Notes")
    [quipu, _] = rows["structuredContent"]["captures"]
    wanted = ["query=knots", "match=lexical", "limit=1", "mark_accessed=false"]
    hits = inspect("tools/call", "--tool-name", "recall", "--tool-arg", *wanted)
    assert hits["structuredContent"]["results"][0]["vault_path"] == "Notes/Quipu.md"
    read = inspect("tools/call", "--tool-name", "get_capture", "--tool-arg", f"id={quipu['id']}")
    assert read["structuredContent"]["text"] == "Knots in cords kept count."


def test_resources_and_prompts_are_listed_and_read(inspect: Inspect) -> None:
    resources = inspect("resources/list")["resources"]
    assert resources[0]["uri"] == "khiip://status"
    for each in resources[:2]:
        assert inspect("resources/read", "--uri", each["uri"])["contents"][0]["text"]
    templates = inspect("resources/templates/list")["resourceTemplates"]
    assert len(templates) == 2
    assert len(inspect("prompts/list")["prompts"]) == 2
    said = inspect(
        "prompts/get", "--prompt-name", "what-do-i-know-about", "--prompt-args", "topic=knots"
    )
    assert "knots" in said["messages"][0]["content"]["text"]
