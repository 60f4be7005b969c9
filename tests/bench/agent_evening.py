"""An agent's evening on the sample vault: what it asks, what it is told, in the order of a day.

    python tests/bench/agent_evening.py [VAULT]

Printed for people; what must hold is asserted, so that it fails when it does not. The agent is
the SDK's own client, the server is `khiipd mcp`, on a copy of the vault.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "fixtures" / "vaults" / "sample"
KHIIPD = str(Path(sys.executable).with_name("khiipd"))
WIDTH = 96
Json = dict[str, Any]


class Agent:
    """Says what it calls, and what came back."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session
        self.tokens = 0

    async def call(self, why: str, tool: str, **arguments: Any) -> Json:
        said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        print(f"\n# {why}\n> {tool}({said})")
        result = await self._session.call_tool(tool, arguments)
        answer: Json = result.structured_content or {}
        assert not result.is_error, answer
        self.tokens += answer.get("approx_tokens", 0)
        return answer


def shown(rows: list[Json]) -> None:
    """Hits, a line each."""
    for row in rows:
        heat = row.get("score_breakdown", {}).get("heat", 0)
        line = f"  {row.get('composite', 0):.3f} heat {heat:.2f}  {row['title']}"
        print(f"{line}  [{row['vault_path']}]"[:WIDTH])


async def evening(agent: Agent) -> None:
    """Overview, entity, layer, thread, one note whole, a file's history, and again."""
    overview = await agent.call("What is this vault about?", "recall", limit=5)
    for each in overview["entities"]:
        print(f"  {each['name']} ({each['kind']}): {each['memory_count']} notes")
    top = overview["entities"][0]["name"]
    assert overview["total"] >= len(overview["entities"]) > 0

    about = await agent.call(f"What is there on {top}?", "recall", entity_name=top, limit=4)
    shown(about["results"])
    assert about["results"]

    caveats = await agent.call("What should be kept in mind?", "recall", layer="caveat", limit=4)
    shown(caveats["results"])
    assert caveats["results"]

    thread = await thread_of(agent, about["results"] + caveats["results"])
    one = await agent.call(
        "Read the first caveat whole", "get_capture", id=caveats["results"][0]["id"]
    )
    print(f"  {one['text'][:300]!r} ({one['total_chars']} characters)")
    assert one["text"]

    path = one["capture"]["vault_path"]
    history = await agent.call("How did that note come about?", "recall", path=path)
    print(f"  {history['total_edits']} edits, {history['history_state']}")

    question = one["capture"]["title"]
    again = await agent.call("Ask by its title", "recall", query=question, limit=3)
    shown(again["results"])
    warmer = await agent.call("And once more", "recall", query=question, limit=3)
    shown(warmer["results"])
    known = {hit["id"]: hit["score_breakdown"]["heat"] for hit in again["results"]}
    warm = {hit["id"]: hit["score_breakdown"]["heat"] for hit in warmer["results"]}
    assert all(warm[each] >= heat for each, heat in known.items() if each in warm)
    cold = {hit["id"]: hit["score_breakdown"]["heat"] for hit in about["results"]}
    assert any(warm[each] > heat for each, heat in cold.items() if each in warm)
    assert again["results"][0]["id"] == one["capture"]["id"]
    print(f"\nThe evening cost about {agent.tokens} tokens; thread: {thread}.")


async def thread_of(agent: Agent, rows: list[Json]) -> str | None:
    """The first thread that one of the notes belongs to, and what else does."""
    for row in rows:
        capture = await agent.call(
            "Does it belong to a thread?", "get_capture", id=row["id"], limit=1
        )
        thread: str | None = capture["capture"]["thread_id"]
        if thread:
            found = await agent.call("The rest of the thread", "recall", thread_id=thread, limit=4)
            shown(found["results"])
            assert row["id"] in {each["id"] for each in found["results"]}
            return thread
    return None


async def run(vault: Path, environment: dict[str, str]) -> None:
    """One session over stdio."""
    parameters = StdioServerParameters(
        command=KHIIPD, args=["--vault", str(vault), "mcp"], env=environment
    )
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        print(f"{hello.server_info.title} {hello.server_info.version}: {hello.instructions}")
        await evening(Agent(session))


def main() -> int:
    """Copy the vault, index it, and live through the evening."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else SAMPLE
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / source.name
        shutil.copytree(source, vault, ignore=shutil.ignore_patterns(".khiip"))
        environment = {**os.environ, "KHIIP_HOME": str(Path(folder) / "home")}
        command = [KHIIPD, "--vault", str(vault), "reindex"]
        done = subprocess.run(command, env=environment, check=False, capture_output=True)
        assert done.returncode in (0, 3), done.stderr
        anyio.run(run, vault, environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
