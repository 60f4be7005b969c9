"""Who embeds now: the embedder that is wanted, and the one whose vectors still answer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from khiip_indexer.embedding.nothing import is_none
from khiip_indexer.errors import KhiipError, ModelError

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.model.session import Vectors
    from khiip_indexer.types import ModelIdentity, Spans

_log = logging.getLogger(__name__)

Former = Callable[["ModelIdentity"], "Embedder | None"]
USUAL_BATCH = 8


@runtime_checkable
class Asking(Protocol):
    """An embedder that reads a question otherwise than a passage, or in a shorter time."""

    def embed_query(self, text: str) -> Vectors:
        """The vector of a question: (dimension,), of length 1; raises as `embed` does."""
        ...


@runtime_checkable
class Patient(Protocol):
    """An embedder that waits for somebody else's program."""

    def embed_until(self, texts: Sequence[str], stopped: Callable[[], bool] | None) -> Vectors:
        """Embed passages as `embed` does; raises Stopped instead of waiting once `stopped`."""
        ...

    def prove(self, stopped: Callable[[], bool] | None) -> None:
        """ModelError where not even a harmless text is taken: no text is to blame then."""
        ...


class Stopped(Exception):
    """The run was to end while a server was waited for."""


def passage_vectors(
    embedder: Embedder, texts: Sequence[str], stopped: Callable[[], bool]
) -> Vectors:
    """The vectors of passages; raises Stopped where the run was to end before they came."""
    if isinstance(embedder, Patient):
        return embedder.embed_until(texts, stopped)
    return embedder.embed(texts)


def query_vector(embedder: Embedder, text: str) -> Vectors:
    """The vector of a question, by whatever way this embedder has for it."""
    if isinstance(embedder, Asking):
        return embedder.embed_query(text)
    row: Vectors = embedder.embed([text])[0]
    return row


def batch_of(embedder: object) -> int:
    """How many texts this embedder is best given at once."""
    return int(getattr(embedder, "batch", USUAL_BATCH))


def is_served(embedder: object) -> bool:
    """Whether somebody else's program is asked for vectors."""
    return bool(getattr(embedder, "served", False))


def nobody(_: ModelIdentity) -> Embedder | None:
    """Knows no embedder of earlier vectors."""
    return None


class Lineup:
    """The embedder that is wanted, and by identity those that made earlier vectors.

    `former` finds one that can still be loaded; `renewed` gives another wanted one when the user
    chose another (None while they did not). `chose` is told which identity has taken over.
    """

    def __init__(
        self,
        wanted: Embedder,
        former: Former = nobody,
        renewed: Callable[[], Embedder | None] = lambda: None,
        chose: Callable[[ModelIdentity], None] = lambda _: None,
    ) -> None:
        self.wanted = wanted
        self.chose = chose
        self._former = former
        self._renewed = renewed
        self._known: dict[str, Embedder | None] = {}

    def refresh(self) -> None:
        """Take in what the user chose since; what cannot be followed changes nothing."""
        try:
            found = self._renewed()
        except KhiipError as error:
            _log.warning("the embedder stays what it was: %s", error.sentence)
            return
        if found is not None:
            if (key := self._key()) is not None:
                self._known[key] = self.wanted
            self.wanted = found

    def serving(self, made_by: ModelIdentity | None) -> Embedder:
        """Whose vectors answer: the one that made them, if it can be had, else the wanted one."""
        if made_by is None or is_none(made_by.key):
            return self.wanted
        wanted = self._key()
        if made_by.key == wanted or is_none(wanted):
            return self.wanted
        return self._former_of(made_by) or self.wanted

    def answering(self, made_by: ModelIdentity | None) -> Embedder:
        """Whom questions are put to: as `serving`, but until none has really taken over, too.

        Whoever wants no embedder is not to have questions sent to somebody else's program.
        """
        serving = self.serving(made_by)
        if made_by is None or is_none(made_by.key) or not is_none(self._key()):
            return serving
        former = self._former_of(made_by)
        return serving if former is None or is_served(former) else former

    def _former_of(self, made_by: ModelIdentity) -> Embedder | None:
        if made_by.key not in self._known:
            self._known[made_by.key] = self._found(made_by)
        return self._known[made_by.key]

    def _key(self) -> str | None:
        try:
            return self.wanted.identity.key
        except KhiipError:
            return None  # it cannot be had now; that is said where it is needed

    def _found(self, made_by: ModelIdentity) -> Embedder | None:
        try:
            return self._former(made_by)
        except KhiipError:
            return None  # its files are gone: words answer until the wanted one has embedded all


class Answering:
    """The embedder that questions are put to: at any moment the one that made the vectors."""

    def __init__(self, lineup: Lineup, made_by: Callable[[], ModelIdentity | None]) -> None:
        self._lineup = lineup
        self._made_by = made_by

    def now(self) -> Embedder:
        """The embedder itself, for whoever needs one and the same for a while."""
        return self._lineup.answering(self._made_by())

    @property
    def identity(self) -> ModelIdentity:
        """That of the vectors which answer, also where their embedder cannot be had now."""
        try:
            return self.now().identity
        except KhiipError:
            made_by = self._made_by()
            if made_by is None:
                raise
            return made_by

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages, as `Embedder.embed` does."""
        return self._able().embed(texts)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question."""
        return query_vector(self._able(), text)

    def _able(self) -> Embedder:
        """The embedder, once it has an identity of its own; ModelError where it has none."""
        embedder = self.now()
        try:
            _ = embedder.identity
        except KhiipError as error:
            raise ModelError(error.sentence, hint=error.hint, code=error.code) from error
        return embedder

    def spans(self, text: str) -> Spans:
        """The word pieces of a text."""
        return self.now().spans(text)

    @property
    def served(self) -> bool:
        """Whether somebody else's program is asked for vectors."""
        return is_served(self.now())


def actual(embedder: Embedder) -> Embedder:
    """The embedder itself, where this one only stands for it."""
    return embedder.now() if isinstance(embedder, Answering) else embedder
