"""Embedders behind an address: Ollama's own interface, and the one that OpenAI made common."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_indexer.embedding import exchange, refusals, speech
from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.embedding.exchange import Answer, Post, Unreachable
from khiip_indexer.embedding.keys import key_of
from khiip_indexer.embedding.lineup import Stopped
from khiip_indexer.errors import UsageError
from khiip_indexer.types import ModelIdentity, Spans

if TYPE_CHECKING:
    from khiip_indexer.model.session import Vectors

_log = logging.getLogger(__name__)

USUAL_WINDOW = 256
_ATTEMPTS = 5
_ATTEMPTS_AT_A_FAULT = 2  # 500 is often about the text: then it is soon tried alone
# Seconds in all that one request waits for a server that says it will be there: one that loads a
# model, or that tells when to come back.
_MOST_PATIENCE = 180.0
_REST = 10.0  # seconds in which a server that did not answer is not asked by searches again
_LOOK = 0.2  # seconds between two looks whether the run is to end
HARMLESS = "The tide comes in twice a day."


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
        return self.embed_until(texts, None)

    def embed_until(self, texts: Sequence[str], stopped: Callable[[], bool] | None) -> Vectors:
        """The same, and no longer waited for once `stopped`: then raises Stopped."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.choice.dimension or 0), np.float32)
        prefix = self._prefixes()[1]
        rows: list[Vectors] = []
        for start in range(0, len(texts), self.batch):
            some = [prefix + text for text in texts[start : start + self.batch]]
            rows += self._patiently(some, stopped)
        return np.stack(rows)

    def prove(self, stopped: Callable[[], bool] | None = None) -> None:
        """Ask for a sentence that is no note's; ModelError when that is refused as well."""
        try:
            self.embed_until([HARMLESS], stopped)
        except RuntimeError as error:
            raise refusals.failed(self.choice, str(error)) from error

    def embed_query(self, text: str) -> Vectors:
        """Embed a question, in one attempt and within the deadline for questions."""
        seconds, clock = self.choice.query_timeout, self._world.clock
        if clock() < self._down_until:
            raise refusals.unreachable(self.choice, "it did not answer just now")
        asked = [self._prefixes()[0] + text]
        try:
            answer = exchange.within(seconds, lambda: self._post(asked, seconds))
        except Unreachable as error:
            self._down_until = clock() + _REST
            raise refusals.unreachable(self.choice, str(error)) from error
        if answer.status in speech.PASSING:
            raise refusals.unreachable(self.choice, refusals.passing(answer))
        return self._rows(answer, asked)[0]

    def spans(self, text: str) -> Spans:
        """Word pieces as the shipped vocabulary has them."""
        return self._spans(text)

    def _patiently(self, texts: Sequence[str], stopped: Callable[[], bool] | None) -> list[Vectors]:
        """Ask until it answers: five times, or for some minutes where it says that it will."""
        attempt, waited = 0, 0.0
        while True:
            answer, fault = self._tried(texts)
            if answer is not None and answer.status not in speech.PASSING:
                return self._rows(answer, texts)
            attempt += 1
            if answer and answer.status == 500 and attempt >= _ATTEMPTS_AT_A_FAULT:
                raise RuntimeError("the server failed (500)")
            wait = speech.pause(attempt - 1, answer.retry_after if answer else None)
            # 503 is what a server says that still loads its model.
            promised = answer is not None and (answer.status == 503 or answer.retry_after)
            if waited + wait > _MOST_PATIENCE or (attempt >= _ATTEMPTS and not promised):
                raise refusals.unreachable(self.choice, fault)
            _log.info("%s: %s; once more in %.1f s", self.choice.host, fault, wait)
            self._rest(wait, stopped)
            waited += wait

    def _tried(self, texts: Sequence[str]) -> tuple[Answer | None, str]:
        """What came back, and what is wrong with it where it may be another in a moment."""
        try:
            answer = self._post(texts, self.choice.timeout)
        except Unreachable as error:
            return None, str(error)
        return answer, refusals.passing(answer)

    def _rest(self, seconds: float, stopped: Callable[[], bool] | None) -> None:
        if stopped is None:
            self._world.sleep(seconds)
            return
        until = self._world.clock() + seconds
        while (left := until - self._world.clock()) > 0:
            if stopped():
                raise Stopped
            self._world.sleep(min(_LOOK, left))

    def _post(self, texts: Sequence[str], seconds: float) -> Answer:
        if not self._agreed:
            raise refusals.not_agreed(self.choice)
        key = self._world.key(self.choice)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        body = speech.question(self.choice, texts)
        return self._world.post(speech.address(self.choice), headers, body, seconds)

    def _rows(self, answer: Answer, texts: Sequence[str]) -> list[Vectors]:
        """The vectors of an answer; RuntimeError where it may be the texts' fault."""
        if fault := refusals.final(self.choice, answer, texts):
            raise fault
        if answer.status != 200:
            raise RuntimeError(f"the server refused ({answer.status})")
        rows = speech.rows_of(self.choice, answer.body, len(texts))
        vectors = [speech.unit(row, self.choice.dimension) for row in rows]
        self._down_until = 0.0
        return vectors
