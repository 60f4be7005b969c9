"""The embedder that is none: notes are found by their words alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from khiip_indexer.errors import ModelError
from khiip_indexer.types import ModelIdentity, Spans

if TYPE_CHECKING:
    from khiip_indexer.model.session import Vectors

NO_EMBEDDER = "no_embedder"
IDENTITY = ModelIdentity("none", "", 0, "none", 256)


def is_none(key: str | None) -> bool:
    """Whether this is the key of the embedder that makes no vectors."""
    return key == IDENTITY.key


class NoEmbedder:
    """Makes no vectors; text is still cut into passages, as `spans` of another model has it."""

    batch = 8

    def __init__(self, spans: Callable[[str], Spans]) -> None:
        self._spans = spans

    @property
    def identity(self) -> ModelIdentity:
        """A model of no dimension."""
        return IDENTITY

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises ModelError (no_embedder), for whatever is asked."""
        raise ModelError(
            "This vault has no embedder: it is searched by words.",
            hint="Choose one with khiipd embedder use NAME.",
            code=NO_EMBEDDER,
        )

    def spans(self, text: str) -> Spans:
        """Word pieces as the packaged vocabulary has them."""
        return self._spans(text)
