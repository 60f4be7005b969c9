"""A sidecar that nobody asks ends by itself, and not while somebody does or it works."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from khiip_indexer.config import Settings
from khiip_sidecar.daemon import serve
from khiip_sidecar.http.answers import Receive, Scope, Send
from khiip_sidecar.idle import IdleExit
from support import FakeEmbedder, make_vault


class App:
    """Answers when it is let go."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.closed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.go_on.wait()
        if scope.get("fails"):
            raise RuntimeError("no answer")

    def close(self) -> None:
        self.closed = True


class House:
    """A watched service with a clock and work of its own."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.works = False
        self.app = App()
        self.idle = IdleExit(self.app, 60, lambda: self.works, lambda: None, lambda: self.now)

    def after(self, seconds: float) -> bool:
        self.now += seconds
        return self.idle.is_due()

    async def asked(self, **scope: bool) -> None:
        await self.idle(dict(scope), None, None)  # type: ignore[arg-type]


def test_it_is_due_when_nobody_asked_for_so_long() -> None:
    house = House()
    assert not house.after(59)
    assert house.after(1)


def test_any_request_begins_the_wait_anew_also_one_that_fails() -> None:
    house = House()
    house.app.go_on.set()
    house.after(59)
    asyncio.run(house.asked())
    assert not house.after(59)
    with pytest.raises(RuntimeError):
        asyncio.run(house.asked(fails=True))
    assert not house.after(59)
    assert house.after(1)


def test_an_answer_under_way_holds_it_up_from_its_beginning_to_its_end() -> None:
    async def follow(house: House) -> None:
        following = asyncio.create_task(house.asked())
        await asyncio.sleep(0)
        assert not house.after(600)
        house.app.go_on.set()
        await following

    house = House()
    asyncio.run(follow(house))
    assert not house.after(59)
    assert house.after(1)


def test_indexing_holds_it_up() -> None:
    house = House()
    house.works = True
    assert not house.after(600)
    house.works = False
    assert not house.after(59)
    assert house.after(1)


def test_closing_closes_what_is_inside() -> None:
    house = House()
    house.idle.close()
    assert house.app.closed


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return make_vault(tmp_path / "vault", {"n.md": "one note"})


def test_a_real_one_indexes_and_then_ends_with_code_0(settings: Settings) -> None:
    codes: list[int] = []
    embedder = FakeEmbedder()

    def run() -> None:
        codes.append(serve(settings, "127.0.0.1", 0, embedder=embedder, idle_exit=0.2))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(20)
    assert codes == [0]
    assert "one note" in " ".join(embedder.texts)
    assert not (settings.state / "sidecar.json").exists()
