"""Two embedders and the change between them, for tests."""

from __future__ import annotations

from khiip_indexer.config import Settings
from khiip_indexer.embedder import Embedder
from khiip_indexer.embedding.lineup import Lineup
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import SyncReport
from khiip_indexer.sync import Syncer
from khiip_indexer.types import ModelIdentity
from support import FakeEmbedder


def former_of(*known: Embedder) -> dict[str, Embedder]:
    return {embedder.identity.key: embedder for embedder in known}


def lineup(wanted: Embedder, *known: Embedder) -> Lineup:
    """A lineup in which the `known` can still be loaded."""
    by_key = former_of(*known)

    def former(made_by: ModelIdentity) -> Embedder | None:
        return by_key.get(made_by.key)

    return Lineup(wanted, former)


def run(settings: Settings, wanted: Embedder, *known: Embedder) -> SyncReport:
    """One headless run with this lineup."""
    with VaultIndex.open(settings, write=True) as index:
        return Syncer(index, lineup(wanted, *known)).run()


def model_of(settings: Settings) -> str | None:
    with VaultIndex.open(settings) as index:
        model = index.model()
        return model.name if model else None


class Narrow(FakeEmbedder):
    """Sees less at once, so that it cuts notes elsewhere."""

    def __init__(self, name: str = "narrow") -> None:
        super().__init__(name=name, dimension=48)
        self._identity = ModelIdentity(name, self._identity.sha256, 48, "mean", 40)
