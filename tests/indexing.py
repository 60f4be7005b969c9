"""What the tests of the index share."""

from __future__ import annotations

from pathlib import Path

from khiip_indexer.config import Settings
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import Filters, SyncReport
from khiip_indexer.sync import Syncer
from support import FakeEmbedder, word_vector


def reindex(
    settings: Settings,
    embedder: FakeEmbedder,
    *,
    full: bool = False,
    accept_deletions: bool = False,
) -> SyncReport:
    """One headless run, opened and closed as the command does."""
    embedder.texts.clear()
    with VaultIndex.open(settings, write=True) as index:
        return Syncer(index, embedder).run(full=full, accept_deletions=accept_deletions)


def settle(settings: Settings, embedder: FakeEmbedder) -> SyncReport:
    """Run until nothing is left for a next run: new file names take a second one."""
    report = reindex(settings, embedder)
    while report.renamed:
        report = reindex(settings, embedder)
    return report


def found(
    settings: Settings, query: str, filters: Filters | None = None, limit: int = 10
) -> list[str]:
    """Paths of the hits of a query, best first."""
    with VaultIndex.open(settings) as index:
        ranking = index.search(word_vector(query), filters or Filters(), limit=limit)
        return [hit.record.vault_path for hit in ranking.hits]


def state_files(settings: Settings) -> set[str]:
    """Names in `.khiip` that stay when nobody has it open."""
    return {path.name for path in settings.state.iterdir()}


def write(settings: Settings, path: str, text: str) -> Path:
    """Put a note into the vault."""
    note = settings.vault / path
    note.parent.mkdir(parents=True, exist_ok=True)
    note.write_text(text, encoding="utf-8")
    return note
