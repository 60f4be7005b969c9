"""Makes the embedder that the settings ask for, and finds those that made earlier vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from khiip_indexer.embedding import remembered
from khiip_indexer.embedding.choice import MINILM, EmbedderChoice
from khiip_indexer.embedding.lineup import Lineup
from khiip_indexer.errors import KhiipError

if TYPE_CHECKING:
    from khiip_indexer.config import Settings
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.types import ModelIdentity, Spans

Reread = Callable[["Settings"], "Settings"]


def open_lineup(settings: Settings, reread: Reread | None = None) -> Lineup:
    """The lineup of a vault; `reread` looks at the settings again, for whoever runs for long.

    Nothing is loaded and nobody is asked. UsageError where the settings cannot be followed.
    """
    desk = _Desk(settings, reread)
    return Lineup(make(settings, settings.embedder), desk.former, desk.renewed, desk.chose)


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that is wanted."""
    return make(settings, settings.embedder)


def make(settings: Settings, choice: EmbedderChoice, *, agreed: bool | None = None) -> Embedder:
    """The embedder of a choice; `agreed` settles whether texts may leave the machine."""
    if choice.kind == "minilm":
        from khiip_indexer import embedder

        return embedder.MiniLM(settings.model_dir, settings.homes.cache, settings.threads)
    if choice.kind == "none":
        from khiip_indexer.embedding.nothing import NoEmbedder

        return NoEmbedder(packaged_spans)
    if choice.kind == "onnx":
        from khiip_indexer.embedding.onnx_folder import OnnxFolder

        folder = Path(choice.path or "").expanduser()
        return OnnxFolder(folder, choice, settings.homes.cache, settings.threads)
    from khiip_indexer.embedding.served import open_served

    may = choice.address in settings.agreed if agreed is None else agreed
    return open_served(choice, packaged_spans, agreed=may or not choice.is_remote)


def packaged_spans(text: str) -> Spans:
    """Word pieces of the shipped vocabulary: how texts are cut for models without one here."""
    return _packaged()(text)


@lru_cache(maxsize=1)
def _packaged() -> Callable[[str], Spans]:
    from khiip_indexer.model.files import packaged_files
    from khiip_indexer.model.wordpieces import WordPieces

    return WordPieces(packaged_files().vocabulary).measures


class _Desk:
    """What one lineup asks of the settings, as they are now."""

    def __init__(self, settings: Settings, reread: Reread | None) -> None:
        self._settings = settings
        self._reread = reread

    def former(self, made_by: ModelIdentity) -> Embedder | None:
        """The embedder of this identity, among all that the user ever described."""
        for choice in self._described():
            try:
                found = make(self._settings, choice)
                # Asking a folder for its identity may read hundreds of megabytes.
                if _may_be(choice, made_by) and found.identity.key == made_by.key:
                    return found
            except KhiipError:
                continue  # this one cannot be had; another may be the one
        return None

    def _described(self) -> Iterator[EmbedderChoice]:
        settings = self._settings
        yield MINILM
        yield settings.embedder
        yield from settings.embedders.values()
        yield from remembered.load(settings.homes.config, settings.vault).known.values()

    def renewed(self) -> Embedder | None:
        """Another embedder, when the user chose another or agreed to it."""
        if self._reread is None:
            return None
        now = self._reread(self._settings)
        before, self._settings = self._settings, now
        if (now.embedder, now.agreed) == (before.embedder, before.agreed):
            return None
        return make(now, now.embedder)

    def chose(self, identity: ModelIdentity) -> None:
        """Keep how the embedder in use was described: its table may be gone when it is asked for.

        The packaged one needs no description.
        """
        settings = self._settings
        if settings.embedder.kind in ("minilm", "none"):
            return
        remembered.change(
            settings.homes.config,
            settings.vault,
            lambda known: known.knowing(identity.key, settings.embedder),
        )


def _may_be(choice: EmbedderChoice, made_by: ModelIdentity) -> bool:
    if choice.kind == "none":
        return False
    if choice.kind == "minilm":
        return True
    named = choice.model or Path(choice.path or "").expanduser().resolve().name
    return choice.kind == "onnx" or named == made_by.name
