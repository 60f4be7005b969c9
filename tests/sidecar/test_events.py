"""Progress as server-sent events: over a real socket, and the stream alone with its faults."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from khiip_indexer.config import Settings
from khiip_indexer.errors import StorageError
from khiip_sidecar.http import events
from khiip_sidecar.http.events import ProgressStreams
from khiip_sidecar.http.server import Connection
from khiip_sidecar.operations import Operations
from serving import Served, serving
from support import FakeEmbedder, make_vault, write_note

EVENTS = "/api/v1/index/events"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_vault(tmp_path / "vault", {"a.md": "Knots on cords.", "b.md": "The sea."})


@contextmanager
def listening(sidecar: Served) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", sidecar.port, timeout=10)
    connection.request("GET", EVENTS, headers={"Authorization": f"Bearer {sidecar.key}"})
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def next_event(response: http.client.HTTPResponse) -> tuple[str, dict[str, Any]]:
    """The next event that is no comment: its name and data."""
    fields: dict[str, str] = {}
    while line := response.readline():
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "data" in fields:
            return fields["event"], json.loads(fields["data"])
    pytest.fail("the stream ended")


def test_the_state_comes_at_once_and_again_when_it_changes(settings: Settings) -> None:
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
        with listening(sidecar) as response:
            assert response.status == 200
            assert response.headers["content-type"] == "text/event-stream"
            name, first = next_event(response)
            assert (name, first["state"], first["counts"]["notes"]) == ("progress", "ready", 2)
            write_note(settings.vault, "c.md", "Lighthouses.")
            assert sidecar.ask("/api/v1/index", "POST")[0] in (202, 409)
            while next_event(response)[1]["counts"]["notes"] != 3:
                pass


def test_an_event_holds_what_the_index_says_but_for_what_may_be_long(settings: Settings) -> None:
    with serving(settings) as sidecar:
        state = sidecar.wait_until_ready()
        with listening(sidecar) as response:
            assert list(next_event(response)[1]) == [
                name for name in state if name not in ("last_report", "problems")
            ]


def test_progress_is_seen_while_a_slow_model_works(settings: Settings) -> None:
    for count in range(60):
        write_note(settings.vault, f"n{count}.md", f"note number {count}")

    class Slow(FakeEmbedder):
        def embed(self, texts: Any) -> Any:
            time.sleep(0.02 * len(texts))
            return super().embed(texts)

    with serving(settings, Slow()) as sidecar, listening(sidecar) as response:
        states = [next_event(response)[1]]
        while states[-1]["counts"]["searchable_by_meaning"] < 62:
            states.append(next_event(response)[1])
    assert {"indexing"} <= {state["state"] for state in states}
    assert any(state["total"] and state["phase"] == "first_vectors" for state in states)


def test_the_key_is_needed(settings: Settings) -> None:
    with serving(settings) as sidecar:
        assert sidecar.ask(EVENTS, key="khiip_not-the-right-key")[0] == 401


def test_head_gives_the_head_alone(settings: Settings) -> None:
    with serving(settings) as sidecar:
        status, body, headers = sidecar.ask(EVENTS, "HEAD")
        assert (status, body, headers["content-type"]) == (200, None, "text/event-stream")


def test_open_streams_do_not_hold_up_the_stop(settings: Settings) -> None:
    with serving(settings) as sidecar:
        sidecar.wait_until_ready()
        with listening(sidecar) as one, listening(sidecar) as two:
            next_event(one)
            next_event(two)
            began = time.monotonic()
            sidecar.daemon.stop()
            assert (one.read(), two.read()) == (b"", b"")
            assert time.monotonic() - began < 3


def test_a_stream_more_than_there_may_be_is_refused_until_one_ends(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_STREAMS", 1)
    with serving(settings) as sidecar:
        with listening(sidecar) as response:
            next_event(response)
            status, body, headers = sidecar.ask(EVENTS)
            assert (status, body["error"]) == (429, "too_many_streams")
            assert int(headers["retry-after"]) > 0
            assert sidecar.ask(EVENTS, "HEAD")[0] == 200
        for _ in range(500):
            with listening(sidecar) as response:
                if response.status == 200:
                    return
            time.sleep(0.01)
    pytest.fail("the place of a stream that ended is not free again")


@contextmanager
def taking_nothing(sidecar: Served) -> Iterator[None]:
    """A client that asks for the stream and never reads it."""
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", sidecar.port))
        head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {sidecar.key}\r\n\r\n"
        slow.sendall(f"GET {EVENTS} HTTP/1.1\r\n{head}".encode())
        yield


@pytest.fixture
def talkative(monkeypatch: pytest.MonkeyPatch) -> None:
    """States that change all the time and are long."""
    count = itertools.count()
    monkeypatch.setattr(events, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(
        Operations, "progress", lambda self: {"count": next(count), "path": "x" * 100_000}
    )


def is_stalled(sidecar: Served) -> bool:
    connections = sidecar.daemon._server.server_state.connections
    return any(isinstance(each, Connection) and each.stalled for each in connections)


def test_who_takes_nothing_does_not_hold_up_the_stop(
    settings: Settings, talkative: None, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(settings) as sidecar, taking_nothing(sidecar):
        for _ in range(1000):
            if is_stalled(sidecar):
                break
            time.sleep(0.01)
        else:
            pytest.fail("the buffer of the connection did not fill up")
        began = time.monotonic()
        sidecar.daemon.stop()
        while sidecar.daemon._server.server_state.connections:
            assert time.monotonic() - began < 3
            time.sleep(0.01)
    assert [record for record in caplog.records if record.exc_info] == []


def test_who_takes_nothing_is_let_go(
    settings: Settings, talkative: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_STREAMS", 1)
    monkeypatch.setattr("khiip_sidecar.http.server.STALLED_SECONDS", 0.2)
    with serving(settings) as sidecar, taking_nothing(sidecar):
        for _ in range(1000):
            with listening(sidecar) as response:
                if response.status == 200:
                    return
            time.sleep(0.01)
    pytest.fail("a client that reads nothing holds its place for ever")


class Client:
    """One client of the stream on the bare ASGI interface; what it was sent, piece by piece."""

    def __init__(self, method: str = "GET") -> None:
        self.scope = {"type": "http", "method": method}
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def receive(self) -> dict[str, Any]:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        await self.open.wait()
        self.sent.append(message)

    @property
    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self.sent if message.get("body")]

    async def has(self, count: int) -> list[bytes]:
        async with asyncio.timeout(10):
            while len(self.bodies) < count:
                await asyncio.sleep(0.001)
        return self.bodies


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LOOK_SECONDS", 0.001)


def test_quiet_is_a_comment_now_and_then(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.01)

    async def scenario() -> None:
        streams, client = ProgressStreams(lambda: {"done": 1}), Client()
        task = asyncio.ensure_future(streams(client.scope, client.receive, client.send))
        first, *quiet = await client.has(3)
        assert first == b'event: progress\ndata: {"done":1}\n\n'
        assert set(quiet) == {events.HEARTBEAT}
        client.left.set()
        await task
        assert client.sent[-1] == {"type": "http.response.body", "body": b""}

    asyncio.run(scenario())


def test_who_is_slow_misses_states_and_gets_the_newest(quick: None) -> None:
    async def scenario() -> None:
        done = [0]
        streams, slow, other = ProgressStreams(lambda: {"done": done[0]}), Client(), Client()
        tasks = [
            asyncio.ensure_future(streams(each.scope, each.receive, each.send))
            for each in (slow, other)
        ]
        await slow.has(1)
        slow.open.clear()
        for number in range(1, 30):
            done[0] = number
            await other.has(number + 1)
        slow.open.set()
        await slow.has(2)
        streams.close()
        await asyncio.gather(*tasks)
        assert len(slow.bodies) <= 3
        assert b'{"done":29}' in slow.bodies[-1]

    asyncio.run(scenario())


def test_a_state_that_cannot_be_read_is_told_and_the_next_one_may_come(quick: None) -> None:
    async def scenario() -> None:
        failing = [True]

        def read() -> dict[str, Any]:
            if failing[0]:
                raise StorageError("no reading now", code="index_busy")
            return {"done": 1}

        streams, client = ProgressStreams(read), Client()
        task = asyncio.ensure_future(streams(client.scope, client.receive, client.send))
        [fault] = await client.has(1)
        assert fault.startswith(b"event: error\n")
        assert b'"error":"index_busy"' in fault
        failing[0] = False
        assert (await client.has(2))[1].startswith(b"event: progress\n")
        streams.close()
        await task

    asyncio.run(scenario())


def test_a_fault_of_ours_ends_the_stream_and_is_not_swallowed(quick: None) -> None:
    async def scenario() -> None:
        def read() -> dict[str, Any]:
            raise ZeroDivisionError

        streams, client = ProgressStreams(read), Client()
        with pytest.raises(ZeroDivisionError):
            await streams(client.scope, client.receive, client.send)

    asyncio.run(scenario())


def test_a_look_that_takes_long_is_taken_less_often() -> None:
    assert events.pause_after(0.001) == events.LOOK_SECONDS
    assert events.pause_after(0.2) == pytest.approx(1.8)


def test_nothing_is_read_when_nobody_listens(quick: None) -> None:
    async def scenario() -> None:
        reads = [0]

        def read() -> dict[str, Any]:
            reads[0] += 1
            return {"done": reads[0]}

        streams, client = ProgressStreams(read), Client()
        task = asyncio.ensure_future(streams(client.scope, client.receive, client.send))
        await client.has(3)
        client.left.set()
        await task
        await asyncio.sleep(0.01)  # a look that had begun may end
        before = reads[0]
        await asyncio.sleep(0.05)
        assert reads[0] == before

    asyncio.run(scenario())
