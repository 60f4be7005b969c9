"""What every command is handed: settings, and somebody to ask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import click

from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_sidecar.client import Backend, find_sidecar

if TYPE_CHECKING:
    from khiip_indexer.embedding.lineup import Lineup
    from khiip_indexer.index import VaultIndex
    from khiip_sidecar.worker import IndexWorker


@dataclass(slots=True)
class App:
    """The global options of one call."""

    overrides: Overrides = field(default_factory=Overrides)
    debug: bool = False

    def settings(self, *, threads: int | None = None) -> Settings:
        """Settings as the command line, the environment and the config file give them."""
        return load_settings(replace(self.overrides, threads=threads))

    @contextmanager
    def backend(self, settings: Settings, *, write: bool = False) -> Iterator[Backend]:
        """The vault's running sidecar, else the index itself for as long as the block runs.

        `write` asks for an index that may be changed; a sidecar always may.
        """
        sidecar = find_sidecar(settings)
        if sidecar is not None:
            yield sidecar
            return
        with local_backend(settings, write=write) as local:
            yield local


@contextmanager
def local_backend(settings: Settings, *, write: bool = False) -> Iterator[Backend]:
    """The operations over the index itself; `write` takes the vault's lock for the block."""
    from khiip_indexer.embedding.factory import open_lineup
    from khiip_indexer.embedding.lineup import Answering
    from khiip_indexer.index import VaultIndex
    from khiip_sidecar.operations import Operations
    from khiip_sidecar.recall import RecallService

    lineup = open_lineup(settings)
    if write:  # opening for writing would make the index that is missing, and leave it empty
        VaultIndex.open(settings).close()
    with VaultIndex.open(settings, write=write) as index:
        worker = _worker(index, lineup) if write else None
        yield Operations(RecallService(index, Answering(lineup, index.model), worker=worker))


def _worker(index: VaultIndex, lineup: Lineup) -> IndexWorker:
    from khiip_indexer.sync import Syncer
    from khiip_sidecar.worker import IndexWorker

    # Its thread is never started here, so there is nothing to warm: it only opens `refetch`.
    return IndexWorker(Syncer(index, lineup), lambda: None)


pass_app = click.make_pass_decorator(App, ensure=True)
