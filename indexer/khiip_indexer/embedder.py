"""Turns texts into vectors: the Embedder protocol, and MiniLM run by onnxruntime."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from khiip_indexer.errors import ModelError
from khiip_indexer.model import files as model_files
from khiip_indexer.model.files import GraphCache, ModelFiles
from khiip_indexer.model.wordpieces import WordPieces
from khiip_indexer.types import ModelIdentity, Spans

if TYPE_CHECKING:
    import onnxruntime

WINDOW = 256
DIMENSION = 384
POOLING = "mean"
# Part of the identity: the recipe of model_graph, named here so that asking for the identity does
# not import onnx (a test keeps the two equal).
GRAPH_VERSION = 1
CHECK_VALUE = 64.0 * 255 * 127

_MOST_THREADS = 4
_ERRORS_ONLY = 3
_SUPPORTED_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})

Vectors = NDArray[np.float32]
_Ids = NDArray[np.int64]


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


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Pieces and session, and what the session wants to be fed."""

    pieces: WordPieces
    session: onnxruntime.InferenceSession
    inputs: frozenset[str]
    output: str

    def vector(self, text: str) -> Vectors:
        """One text's vector, of length 1."""
        ids = np.asarray([self.pieces.ids(text, WINDOW)], np.int64)
        try:
            answer = self.session.run([self.output], _feed(ids, self.inputs))[0]
        except Exception as error:  # onnxruntime's errors have no common base but this one
            raise RuntimeError(f"the model failed on a text: {error}") from error
        return _unit(answer[0] if answer.ndim == 2 else answer[0].mean(axis=0))


def _feed(ids: _Ids, inputs: frozenset[str]) -> dict[str, _Ids]:
    every = {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "token_type_ids": np.zeros_like(ids),
    }
    return {name: every[name] for name in inputs}


def _unit(row: Vectors) -> Vectors:
    length = float(np.linalg.norm(row))
    if not np.isfinite(length) or length == 0.0:
        raise RuntimeError("the model gave a vector without a direction")
    return np.asarray(row / length, np.float32)


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
        self._loaded: _Loaded | None = None

    @property
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
        if not texts:
            return np.zeros((0, self.identity.dimension), np.float32)
        vector = self._load().vector
        workers = min(self.threads, len(texts))
        if workers == 1:
            return np.stack([vector(text) for text in texts])
        with ThreadPoolExecutor(workers, thread_name_prefix="embed") as pool:
            return np.stack(list(pool.map(vector, texts)))

    def spans(self, text: str) -> Spans:
        """The (start, end) of every word piece in code points of `text`, nothing cut off."""
        return self._tokenizer().spans(text)

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

    def _load(self) -> _Loaded:
        if self._loaded is not None:
            return self._loaded
        with self._lock:
            if self._loaded is None:
                files = self._located()
                session = self._fast_session(files) if files.known else _foreign_session(files)
                self._loaded = _loaded(files, self._tokenizer(), session)
            return self._loaded

    def _fast_session(self, files: ModelFiles) -> onnxruntime.InferenceSession:
        signed, unsigned = (self._cache(files, kind) for kind in ("signed", "unsigned"))
        # The unsigned graph exists only where the signed one was found wanting; it is right
        # everywhere, so that its presence settles the question without another try.
        if not unsigned.kept():
            session = _open(files, signed.get(lambda: _build(files, unsigned=False)))
            if _exact(session):
                return session
            signed.drop()
        return _open(files, unsigned.get(lambda: _build(files, unsigned=True)))

    def _cache(self, files: ModelFiles, kind: str) -> GraphCache:
        name = f"minilm-{files.model_sha256[:12]}-v{GRAPH_VERSION}-{kind}"
        return GraphCache(self._cache_dir, name, files)


def _build(files: ModelFiles, *, unsigned: bool) -> bytes:
    from khiip_indexer.model.graph import build_graph

    return build_graph(files.model, unsigned=unsigned)


def _exact(session: onnxruntime.InferenceSession) -> bool:
    # Processors without 8-bit dot products cut off sums of signed products, silently: vectors
    # would be wrong. The graph carries a product that shows it.
    ids = np.zeros((1, 1), np.int64)
    (check,) = session.run(["check"], {"input_ids": ids})
    return bool((check == CHECK_VALUE).all())


def _loaded(
    files: ModelFiles, pieces: WordPieces, session: onnxruntime.InferenceSession
) -> _Loaded:
    inputs = frozenset(item.name for item in session.get_inputs())
    if not inputs <= _SUPPORTED_INPUTS:
        raise ModelError(
            f"The model {files.model} wants {', '.join(sorted(inputs - _SUPPORTED_INPUTS))}, "
            "which a BERT model has not.",
            hint="Use a BERT model exported to ONNX, or leave `model_dir` out.",
        )
    return _Loaded(pieces, session, inputs, session.get_outputs()[0].name)


def _foreign_session(files: ModelFiles) -> onnxruntime.InferenceSession:
    return _open(files, files.model, optimise=True)


def _open(
    files: ModelFiles, graph: Path | bytes, *, optimise: bool = False
) -> onnxruntime.InferenceSession:
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    # Threads are ours (see `embed`): none of the library's own, hence none that spin while idle,
    # and none that ask for a processor which a container does not have.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Texts differ in length: a plan of memory kept for each length would only grow. The pool of
    # freed blocks stays; the window bounds it, and without it resident memory is larger.
    options.enable_mem_pattern = False
    # The made graph is as it should be; optimising would join what is faster apart.
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimise else levels.ORT_DISABLE_ALL
    options.log_severity_level = _ERRORS_ONLY
    source = graph if isinstance(graph, bytes) else str(graph)
    try:
        return onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base but this one
        expected = model_files.MODEL_SHA256
        raise model_files.damaged(files.model, expected, files.model_sha256) from error
