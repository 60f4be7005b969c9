"""A small vault, indexed for real with the fake model, and everything that answers from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.sync import Syncer
from khiip_sidecar.daemon import warm
from khiip_sidecar.operations import Operations
from khiip_sidecar.recall import RecallService, Tuning
from khiip_sidecar.worker import IndexWorker
from support import FakeEmbedder, make_vault, write_note

NOW = datetime(2026, 6, 30, 12, 0, 0, tzinfo=UTC)
KEY = "khiip_a-key-for-tests-only"


@dataclass(slots=True)
class House:
    """One vault with its index open for writing."""

    settings: Settings
    index: VaultIndex
    embedder: FakeEmbedder
    syncer: Syncer
    worker: IndexWorker
    service: RecallService
    operations: Operations

    def write(self, path: str, text: str) -> Path:
        return write_note(self.settings.vault, path, text)

    def remove(self, path: str) -> None:
        (self.settings.vault / path).unlink()

    def sync(self) -> None:
        self.syncer.run(accept_deletions=True)

    def id_of(self, path: str) -> str:
        record = self.index.capture_at(path)
        assert record is not None
        return record.id


@contextmanager
def open_house(
    root: Path,
    notes: Mapping[str, str],
    *,
    indexed: bool = True,
    weak_below: float | None = None,
) -> Iterator[House]:
    """Make the vault at `root`, index it once, and put the read side in front of it."""
    settings = make_vault(root, notes)
    embedder = FakeEmbedder()
    with VaultIndex.open(settings, write=True) as index:
        syncer = Syncer(index, embedder, clock=lambda: NOW)
        worker = IndexWorker(syncer, lambda: warm(index, embedder))
        tuning = Tuning(weak_below, clock=NOW.timestamp)
        service = RecallService(index, embedder, worker=worker, tuning=tuning)
        operations = Operations(service, now=lambda: NOW)
        house = House(settings, index, embedder, syncer, worker, service, operations)
        if indexed:
            house.sync()
        yield house


def note(body: str, **fields: object) -> str:
    """A note with frontmatter; keys as given, lists in brackets."""
    lines = [f"{key}: {value}" for key, value in fields.items()]
    return "\n".join(["---", *lines, "---", body, ""])
