"""Embedders behind an address: Ollama's own interface, and the one that OpenAI made common."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_indexer.embedding import exchange, speech
from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.embedding.exchange import Answer, Post, Unreachable
from khiip_indexer.embedding.keys import key_of
from khiip_indexer.errors import ModelError, UsageError
from khiip_indexer.types import ModelIdentity, Spans

if TYPE_CHECKING:
    from khiip_indexer.model.session import Vectors

_log = logging.getLogger(__name__)

USUAL_WINDOW = 256
_ATTEMPTS = 5
_ATTEMPTS_AT_A_FAULT = 2  # 500 is often about the text: then it is soon tried alone
_MOST_PATIENCE = 120.0  # seconds that a server may ask to be left alone for, in the midst of a run
_REST = 10.0  # seconds in which a server that did not answer is not asked by searches again
# So many refused texts in a row, and none taken: it is not the texts.
_MOST_REFUSED = 16


@dataclass(frozen=True, slots=True)
class World:
    """The network and the time, as this embedder meets them."""

    post: Post = exchange.post
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = exchange.now
    key: Callable[[EmbedderChoice], str | None] = key_of


def open_served(
    choice: EmbedderChoice,
    spans: Callable[[str], Spans],
    *,
    agreed: bool,
    world: World | None = None,
) -> Served:
    """The embedder of a choice of kind `ollama` or `openai`; nobody is asked yet."""
    return Served(choice, spans, agreed, world or World())


class Served:
    """Sends texts to the one address that was named, and only when that was agreed to.

    Safe in several threads. Texts are cut by the shipped word pieces, since the server's own are
    not known here.
    """

    served = True

    def __init__(
        self,
        choice: EmbedderChoice,
        spans: Callable[[str], Spans],
        agreed: bool,
        world: World,
    ) -> None:
        self.choice = choice
        self.batch = choice.batch
        self._spans = spans
        self._agreed = agreed
        self._world = world
        self._down_until = 0.0
        self._refused = 0

    @property
    def identity(self) -> ModelIdentity:
        """Name and description of the model; UsageError while its dimension is not known."""
        choice = self.choice
        if choice.dimension is None:
            raise UsageError(
                f"The embedder {choice.name} needs its `dimension`.",
                hint=f"khiipd embedder test {choice.name} tells it.",
                code="bad_config",
            )
        parts = [choice.kind, choice.url, choice.model, choice.shorten, *self._prefixes()]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        window = choice.window or USUAL_WINDOW
        return ModelIdentity(choice.model or "", digest, choice.dimension, "served", window)

    def _prefixes(self) -> tuple[str, str]:
        return self.choice.query_prefix or "", self.choice.passage_prefix or ""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages in order: (texts, dimension), rows of length 1.

        Waits and asks again where that may help. ModelError when the server cannot be used, and
        RuntimeError when it fails on the texts.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.choice.dimension or 0), np.float32)
        prefix = self._prefixes()[1]
        rows: list[Vectors] = []
        for start in range(0, len(texts), self.batch):
            rows += self._patiently([prefix + t for t in texts[start : start + self.batch]])
        return np.stack(rows)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question, in one attempt and within the deadline for questions."""
        seconds, clock = self.choice.query_timeout, self._world.clock
        if clock() < self._down_until:
            raise self._unreachable("it did not answer just now")
        asked = [self._prefixes()[0] + text]
        try:
            answer = exchange.within(seconds, lambda: self._post(asked, seconds))
        except Unreachable as error:
            self._down_until = clock() + _REST
            raise self._unreachable(str(error)) from error
        if answer.status in speech.PASSING:
            raise self._unreachable(f"it answered {answer.status}")
        return self._rows(answer, 1)[0]

    def spans(self, text: str) -> Spans:
        """Word pieces as the shipped vocabulary has them."""
        return self._spans(text)

    def _patiently(self, texts: Sequence[str]) -> list[Vectors]:
        attempt = 0
        while True:
            try:
                answer = self._post(texts, self.choice.timeout)
            except Unreachable as error:
                fault, wait = str(error), speech.pause(attempt, None)
            else:
                if answer.status not in speech.PASSING:
                    return self._rows(answer, len(texts))
                fault, wait = (
                    f"it answered {answer.status}",
                    speech.pause(attempt, answer.retry_after),
                )
                if answer.status == 500 and attempt + 1 >= _ATTEMPTS_AT_A_FAULT:
                    raise self._text_refused(f"the server failed ({answer.status})")
            attempt += 1
            if attempt >= _ATTEMPTS or wait > _MOST_PATIENCE:
                raise self._unreachable(fault)
            _log.info("%s: %s; once more in %.1f s", self.choice.host, fault, wait)
            self._world.sleep(wait)

    def _post(self, texts: Sequence[str], seconds: float) -> Answer:
        if not self._agreed:
            raise self._not_agreed()
        url, body = speech.question(self.choice, texts)
        key = self._world.key(self.choice)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return self._world.post(url, headers, body, seconds)

    def _rows(self, answer: Answer, count: int) -> list[Vectors]:
        """The vectors of an answer. Never quotes it: servers repeat keys and texts in errors."""
        host, model, status = self.choice.host, self.choice.model, answer.status
        if status in speech.REFUSED:
            raise ModelError(
                f"{host} refused the key of the embedder {self.choice.name} ({status}).",
                hint="Is it the right one, and is the account in order?",
                code="embedder_refused",
            )
        if status == 404:
            raise ModelError(
                f"{host} has no model {model}, or is no server of this kind.",
                hint="Is the name right, and is the model still there?",
                code="embedder_gone",
            )
        if status != 200:
            raise self._text_refused(f"the server refused ({status})")
        try:
            rows = speech.rows_of(self.choice, answer.body, count)
            vectors = [speech.unit(row, self.choice.dimension) for row in rows]
        except RuntimeError as error:
            raise self._text_refused(str(error)) from error
        self._refused, self._down_until = 0, 0.0
        return vectors

    def _text_refused(self, fault: str) -> Exception:
        self._refused += 1
        if self._refused <= _MOST_REFUSED:
            return RuntimeError(fault)
        return ModelError(
            f"{self.choice.host} took none of the last {self._refused} texts: {fault}.",
            hint=f"khiipd embedder test {self.choice.name} may know more.",
            code="embedder_failed",
        )

    def _unreachable(self, fault: str) -> ModelError:
        return ModelError(
            f"The embedder {self.choice.name} at {self.choice.host} cannot be asked: {fault}.",
            hint="Is it running, and is there a network? What was embedded is kept.",
            code="embedder_unreachable",
        )

    def _not_agreed(self) -> ModelError:
        choice = self.choice
        return ModelError(
            f"The embedder {choice.name} would send the notes' texts to {choice.host}; "
            "nothing was sent.",
            hint=f"If that is what you want: khiipd embedder use {choice.name}.",
            code="consent_needed",
        )
