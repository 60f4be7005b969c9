"""Turns texts into vectors: the Embedder protocol, and MiniLM run by onnxruntime."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from khiip_indexer.model import files as model_files
from khiip_indexer.model.files import GraphCache, ModelFiles
from khiip_indexer.model.wordpieces import WordPieces
from khiip_indexer.types import ModelIdentity, Spans

if TYPE_CHECKING:
    import onnxruntime

    from khiip_indexer.model.session import Runner, Vectors

WINDOW = 256
DIMENSION = 384
POOLING = "mean"
# Part of the identity: the recipe of model_graph, named here so that asking for the identity does
# not import onnx (a test keeps the two equal).
GRAPH_VERSION = 1

_MOST_THREADS = 4


class Embedder(Protocol):
    """Gives texts their vectors; the same text has the same vector whatever stands beside it."""

    @property
    def identity(self) -> ModelIdentity:
        """What the vectors are to be kept under; cheap, nothing is loaded for it."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts in order: (texts, dimension), finite rows of length 1.

        What does not fit the window is left out. Raises ModelError when there is no model, and
        RuntimeError when it fails on one of the texts.
        """
        ...

    def spans(self, text: str) -> Spans:
        """The (start, end) of every word piece in code points of `text`, however long it is."""
        ...


def usable_processors() -> int:
    """How many processors this process may run on: a container's share, not the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_threads() -> int:
    """Half of the usable processors, one to four: indexing leaves a person room to work."""
    return max(1, min(_MOST_THREADS, usable_processors() // 2))


class MiniLM:
    """all-MiniLM-L6-v2 on the processor, or the BERT model of a folder; safe in several threads.

    Tokenizer and session are loaded when first needed. `model_dir` holds model.onnx and vocab.txt
    or tokenizer.json, and wins over the packaged model. `cache_dir` is where the made graph is
    kept (None: made in memory at each start). `threads` is how many texts are worked on at once.
    """

    def __init__(
        self,
        model_dir: Path | None = None,
        cache_dir: Path | None = None,
        threads: int | None = None,
    ) -> None:
        self.threads = threads or default_threads()
        self._model_dir = model_dir
        self._cache_dir = cache_dir
        self._lock = threading.RLock()
        self._files: ModelFiles | None = None
        self._pieces: WordPieces | None = None
        self._loaded: Runner | None = None

    @cached_property
    def identity(self) -> ModelIdentity:
        """Name, digest of weights, vocabulary and recipe, dimension, pooling and window.

        For the packaged weights nothing is read; a folder's files are read once for their
        digests, and a foreign model is opened for its dimension. Raises ModelError.
        """
        files = self._located()
        dimension = DIMENSION if files.known else self._dimension()
        recipe = f"fast graph {GRAPH_VERSION}" if files.known else "as packaged"
        parts = f"{files.model_sha256}\n{files.vocabulary_sha256}\n{recipe}"
        digest = hashlib.sha256(parts.encode()).hexdigest()
        return ModelIdentity(files.name, digest, dimension, POOLING, WINDOW)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts in order: (texts, dimension), finite rows of length 1.

        Each text is a run of its own, `threads` of them at a time: activation scales are taken
        from one text alone, and whole texts keep processors busier than parts of one do. Raises
        ModelError when the model is missing or damaged, RuntimeError when it fails on a text.
        """
        import numpy as np

        if not texts:
            return np.zeros((0, self.identity.dimension), np.float32)
        vector = self._load().vector
        workers = min(self.threads, len(texts))
        if workers == 1:
            return np.stack([vector(text) for text in texts])
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            return np.stack(list(pool.map(vector, texts)))

    def spans(self, text: str) -> Spans:
        """The (start, end) of every word piece in code points of `text`, nothing cut off.

        A word that the model does not know counts as pieces of two characters.
        """
        return self._tokenizer().measures(text)

    def _located(self) -> ModelFiles:
        with self._lock:
            if self._files is None:
                folder = self._model_dir
                self._files = (
                    model_files.packaged_files()
                    if folder is None
                    else model_files.folder_files(folder)
                )
            return self._files

    def _dimension(self) -> int:
        loaded = self._load()
        return len(loaded.vector(""))

    def _tokenizer(self) -> WordPieces:
        with self._lock:
            if self._pieces is None:
                files = self._located()
                model_files.verify(files.vocabulary, files.vocabulary_sha256)
                self._pieces = WordPieces(files.vocabulary)
            return self._pieces

    def _load(self) -> Runner:
        if self._loaded is not None:
            return self._loaded
        from khiip_indexer.model.session import open_session, runner

        with self._lock:
            if self._loaded is None:
                files = self._located()
                session = (
                    self._fast_session(files)
                    if files.known
                    else open_session(files, files.model, optimise=True)
                )
                self._loaded = runner(files, self._tokenizer(), session, WINDOW)
            return self._loaded

    def _fast_session(self, files: ModelFiles) -> onnxruntime.InferenceSession:
        from khiip_indexer.model.session import is_exact, open_session

        signed, unsigned = (self._cache(files, kind) for kind in ("signed", "unsigned"))
        # The unsigned graph exists only where the signed one was found wanting; it is right
        # everywhere, so that its presence settles the question without another try.
        if not unsigned.kept():
            session = open_session(files, signed.get(lambda: _build(files, unsigned=False)))
            if is_exact(session):
                return session
            signed.drop()
        return open_session(files, unsigned.get(lambda: _build(files, unsigned=True)))

    def _cache(self, files: ModelFiles, kind: str) -> GraphCache:
        name = f"minilm-{files.model_sha256[:12]}-v{GRAPH_VERSION}-{kind}"
        return GraphCache(self._cache_dir, name, files)


def _build(files: ModelFiles, *, unsigned: bool) -> bytes:
    from khiip_indexer.model.graph import build_graph

    return build_graph(files.model, unsigned=unsigned)
