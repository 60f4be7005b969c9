"""A server on this machine, and how it is described."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from embedders.servers import DIMENSION, Server, server
from khiip_indexer.embedding.choice import EmbedderChoice, read_choice


@pytest.fixture
def there() -> Iterator[Server]:
    with server() as running:
        yield running


@pytest.fixture(params=["ollama", "openai"])
def choice(request: pytest.FixtureRequest, there: Server) -> EmbedderChoice:
    kind = request.param
    url = there.url if kind == "ollama" else f"{there.url}/v1"
    table = {"kind": kind, "url": url, "model": "tiny", "dimension": DIMENSION, "batch": 4}
    return read_choice("mine", table)
