"""A stdio session driven byte by byte, and the SDK's own client over both transports."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from khiip_indexer.config import Settings
from serving import Served

PATIENCE = 30.0
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
Json = dict[str, Any]


def words_for(settings: Settings) -> list[str]:
    """The command that a client starts."""
    program = [sys.executable, "-m", "khiip_sidecar"]
    return [*program, "--vault", str(settings.vault), "mcp"]


def environment_of(settings: Settings) -> dict[str, str]:
    """That of this process, with the user's folders of the vault's own."""
    home = str(settings.homes.cache.parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KHIIP_")}
    return {**kept, "KHIIP_HOME": home}


class Talk:
    """One server process; every line that comes back is JSON or the test fails."""

    def __init__(self, words: Sequence[str], environment: dict[str, str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=cwd,
        )
        self._buffer = b""
        self.heard: list[Json] = []

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def say(self, *messages: Json) -> None:
        self.raw(b"".join(json.dumps(each).encode() + b"\n" for each in messages))

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        params = {"name": tool, "arguments": arguments}
        self.say({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def next(self) -> Json:
        """The next message, whatever it is."""
        assert self.process.stdout is not None
        until = time.monotonic() + PATIENCE
        while b"\n" not in self._buffer:
            left = until - time.monotonic()
            assert left > 0, "no answer"
            if select.select([self.process.stdout], [], [], left)[0]:
                piece = os.read(self.process.stdout.fileno(), 65536)
                assert piece, f"the server has gone: {self.errors()}"
                self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        message: Json = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        self.heard.append(message)
        return message

    def answer(self, number: int | str | None) -> Json:
        """The answer to a request, perhaps heard already."""
        for message in self.heard:
            if "method" not in message and message.get("id") == number:
                self.heard.remove(message)
                return message
        while True:
            message = self.next()
            if "method" not in message and message.get("id") == number:
                self.heard.remove(message)
                return message

    def greet(self) -> Json:
        self.say(HELLO, READY)
        return self.answer(0)

    def end(self) -> int:
        """Close stdin; the exit code, within the five seconds that a client waits."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(5)

    def errors(self) -> str:
        assert self.process.stderr is not None
        self.process.kill()
        self.process.wait()
        return self.process.stderr.read().decode()


@contextmanager
def talking(
    settings: Settings, words: Sequence[str] | None = None, cwd: Path | None = None
) -> Iterator[Talk]:
    """A server over stdio for the block."""
    talk = Talk(words or words_for(settings), environment_of(settings), cwd or settings.vault)
    try:
        yield talk
    finally:
        talk.process.kill()
        for stream in (talk.process.stdin, talk.process.stdout, talk.process.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        talk.process.wait()


@asynccontextmanager
async def over_stdio(settings: Settings) -> AsyncIterator[ClientSession]:
    """The SDK's client with a server process of its own."""
    command, *args = words_for(settings)
    parameters = StdioServerParameters(command=command, args=args, env=environment_of(settings))
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        with anyio.fail_after(PATIENCE):
            await session.initialize()
        yield session


@asynccontextmanager
async def over_http(served: Served) -> AsyncIterator[ClientSession]:
    """The SDK's client at the address of a sidecar."""
    url = f"http://127.0.0.1:{served.port}/mcp"
    headers = {"Authorization": f"Bearer {served.key}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        streamable_http_client(url, http_client=http) as (read, write),
        ClientSession(read, write) as session,
    ):
        with anyio.fail_after(PATIENCE):
            await session.initialize()
        yield session
