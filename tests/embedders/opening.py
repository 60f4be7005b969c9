"""A served embedder for tests, in a time that passes only while somebody sleeps."""

from __future__ import annotations

from embedders.servers import KEY
from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.embedding.factory import packaged_spans
from khiip_indexer.embedding.served import Served, World, open_served


class Sleeps:
    """Sleeps and clock in one; `seconds` is what was slept."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.time = 100.0

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self.time += seconds

    def clock(self) -> float:
        return self.time


def opened(choice: EmbedderChoice, sleeps: Sleeps, *, agreed: bool = True) -> Served:
    world = World(sleep=sleeps, clock=sleeps.clock, key=lambda c: KEY if c.key_env else None)
    return open_served(choice, packaged_spans, agreed=agreed, world=world)
