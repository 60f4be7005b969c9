"""A folder with a sentence-transformers model in ONNX: any language, on this machine."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from khiip_indexer.embedder import MiniLM, default_threads
from khiip_indexer.embedding.choice import EmbedderChoice
from khiip_indexer.errors import ModelError
from khiip_indexer.model.files import MODEL_SHA256, stamped_digest
from khiip_indexer.model.folder import FolderModel, read_folder
from khiip_indexer.model.wordpieces import AnyPieces
from khiip_indexer.types import ModelIdentity, Spans

if TYPE_CHECKING:
    from khiip_indexer.model.session import FolderRunner, Vectors

_RECIPE = 1  # raise it when the same files come to other vectors
_PROMPT_ROOM = 2  # pieces may join or split where the prompt meets the text


class OnnxFolder:
    """Runs the model of a folder; safe in several threads, nothing is loaded before it is needed.

    Every text is a run of its own, so that a vector never depends on its neighbours. The weights
    that come with the installation run in their faster graph.
    """

    batch = 8

    def __init__(
        self,
        folder: Path,
        choice: EmbedderChoice,
        cache: Path | None = None,
        threads: int | None = None,
    ) -> None:
        self.threads = threads or default_threads()
        self._folder = folder
        self._choice = choice
        self._cache = cache
        self._lock = threading.RLock()
        self._model: FolderModel | None = None
        self._digests: tuple[str, ...] = ()
        self._pieces: AnyPieces | None = None
        self._runner: FolderRunner | None = None
        self._twin: MiniLM | None = None

    @property
    def identity(self) -> ModelIdentity:
        """Name, digest of all that makes the vectors, dimension, pooling, window; ModelError."""
        model = self._described()
        if self._twin is not None:
            return self._twin.identity
        prompts = self._prompts()
        parts = [_RECIPE, *self._digests, model.pooling, *prompts, model.counts_prompt]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        dimension = self._choice.dimension or model.dimension or self._measured()
        return ModelIdentity(model.name, digest, dimension, model.pooling, self._window())

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed passages in order: (texts, dimension), rows of length 1.

        Raises ModelError when the model cannot be used, RuntimeError when it fails on a text.
        """
        import numpy as np

        self._described()
        if self._twin is not None:
            return self._twin.embed(texts)
        if not texts:
            return np.zeros((0, self.identity.dimension), np.float32)
        runner, (_, prompt) = self._loaded(), self._prompts()

        def vector(text: str) -> Vectors:
            return runner.vector(text, prompt, self._model_window())

        workers = min(self.threads, len(texts))
        if workers == 1:
            return np.stack([vector(text) for text in texts])
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            return np.stack(list(pool.map(vector, texts)))

    def embed_query(self, text: str) -> Vectors:
        """Embed a question behind the prompt for questions."""
        self._described()
        if self._twin is not None:
            row: Vectors = self._twin.embed([text])[0]
            return row
        return self._loaded().vector(text, self._prompts()[0], self._model_window())

    def spans(self, text: str) -> Spans:
        """The (start, end) of every piece of the model's own tokenizer."""
        return self._tokenizer().spans(text)

    def _described(self) -> FolderModel:
        with self._lock:
            if self._model is None:
                model = read_folder(self._folder)
                data = model.graph.with_name(f"{model.graph.name}_data")
                files = [model.graph, model.tokenizer, *([data] if data.is_file() else [])]
                self._digests = tuple(stamped_digest(file, self._cache) for file in files)
                if self._is_packaged(model):
                    self._twin = MiniLM(self._folder, self._cache, self.threads)
                self._model = model
            return self._model

    def _is_packaged(self, model: FolderModel) -> bool:
        choice = self._choice
        as_usual = model.pooling == "mean" and choice.window in (None, 256)
        as_usual = as_usual and choice.dimension in (None, model.dimension)
        plain = not any((choice.query_prefix, choice.passage_prefix, model.query_prompt))
        here = model.graph.parent == self._folder
        return here and as_usual and plain and self._digests[0] == MODEL_SHA256

    def _prompts(self) -> tuple[str, str]:
        """Before a question, and before a passage: as the user says, else as the folder does."""
        model, choice = self._described(), self._choice
        query, passage = choice.query_prefix, choice.passage_prefix
        return (
            model.query_prompt if query is None else query,
            model.passage_prompt if passage is None else passage,
        )

    def _model_window(self) -> int:
        return self._choice.window or self._described().window

    def _window(self) -> int:
        """Room for a passage: what the prompt and further special pieces leave of the window."""
        pieces, prompt = self._tokenizer(), self._prompts()[1]
        taken = pieces.count(prompt) + _PROMPT_ROOM if prompt else 0
        return max(8, self._model_window() - taken - max(0, pieces.special - 2))

    def _measured(self) -> int:
        return len(self._loaded().vector("one", "", self._model_window()))

    def _tokenizer(self) -> AnyPieces:
        with self._lock:
            if self._pieces is None:
                self._pieces = AnyPieces(self._described().tokenizer)
            return self._pieces

    def _loaded(self) -> FolderRunner:
        if self._runner is not None:
            return self._runner
        from khiip_indexer.model.session import folder_runner

        with self._lock:
            if self._runner is None:
                found = folder_runner(self._described(), self._tokenizer())
                self._check(len(found.vector("one", "", self._model_window())))
                self._runner = found
            return self._runner

    def _check(self, made: int) -> None:
        """Vectors of a length that the index was not told of would tear it."""
        said = self._choice.dimension or self._described().dimension
        if said is not None and said != made:
            raise ModelError(
                f"The embedder {self._choice.name} makes {made} dimensions, not {said}.",
                hint=f"Say `dimension = {made}` in its table.",
                code="model_dimension",
            )
