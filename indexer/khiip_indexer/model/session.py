"""An onnxruntime session that turns one text into one vector."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from khiip_indexer.errors import ModelError
from khiip_indexer.model import files as model_files
from khiip_indexer.model.files import ModelFiles
from khiip_indexer.model.folder import FolderModel, Pooling
from khiip_indexer.model.wordpieces import AnyPieces, WordPieces

if TYPE_CHECKING:
    import onnxruntime

CHECK_VALUE = 64.0 * 255 * 127

_ERRORS_ONLY = 3
_SUPPORTED_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})

Vectors = NDArray[np.float32]
_Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Runner:
    """Pieces and session, and what the session wants to be fed."""

    pieces: WordPieces
    window: int
    session: onnxruntime.InferenceSession
    inputs: frozenset[str]
    output: str

    def vector(self, text: str) -> Vectors:
        """One text's vector, of length 1."""
        ids = np.asarray([self.pieces.ids(text, self.window)], np.int64)
        try:
            answer = self.session.run([self.output], _feed(ids, self.inputs))[0]
        except Exception as error:  # onnxruntime's errors have no common base but this one
            raise RuntimeError(f"the model failed on a text: {error}") from error
        return _unit(answer[0] if answer.ndim == 2 else answer[0].mean(axis=0))


@dataclass(frozen=True, slots=True)
class FolderRunner:
    """Runs texts through the model of a folder, and pools its output as the folder says."""

    pieces: AnyPieces
    model: FolderModel
    session: onnxruntime.InferenceSession
    inputs: frozenset[str]
    output: str

    def vector(self, text: str, prompt: str, window: int) -> Vectors:
        """One text's vector behind its prompt, of length 1; RuntimeError when the model fails."""
        ids = np.asarray([self.pieces.ids(prompt + text, window)], np.int64)
        try:
            answer = self.session.run([self.output], _feed(ids, self.inputs))[0]
        except Exception as error:  # onnxruntime's errors have no common base but this one
            raise RuntimeError(f"the model failed on a text: {error}") from error
        if answer.ndim == 2:
            return _unit(answer[0])
        skipped = 0 if self.model.counts_prompt or not prompt else self.pieces.count(prompt) + 1
        rows = answer[0][min(skipped, len(answer[0]) - 1) :]
        return _unit(pooled(np.asarray(rows, np.float32), self.model.pooling))


def pooled(rows: Vectors, pooling: Pooling) -> Vectors:
    """(pieces, dimension) to (dimension,), of any length; sentence-transformers names the ways."""
    if pooling == "cls":
        row = rows[0]
    elif pooling == "lasttoken":
        row = rows[-1]
    elif pooling == "max":
        row = rows.max(axis=0)
    elif pooling == "weightedmean":
        weights = np.arange(1, len(rows) + 1, dtype=np.float32)
        row = (rows * weights[:, None]).sum(axis=0) / weights.sum()
    else:  # the mean over the root of the length points where the mean does
        row = rows.mean(axis=0)
    return np.asarray(row, np.float32)


def folder_runner(model: FolderModel, pieces: AnyPieces) -> FolderRunner:
    """Open a folder's model; ModelError where it is damaged or wants what no text model does."""
    session = open_session(_files(model), model.graph, optimise=True)
    inputs = frozenset(item.name for item in session.get_inputs())
    if not inputs <= _SUPPORTED_INPUTS or "input_ids" not in inputs:
        raise ModelError(
            f"The model {model.graph} wants {', '.join(sorted(inputs))}: it is not one for texts.",
            hint="Use a text encoder exported to ONNX.",
            code="model_unsupported",
        )
    outputs = [item.name for item in session.get_outputs()]
    made = [name for name in ("sentence_embedding", "last_hidden_state") if name in outputs]
    return FolderRunner(pieces, model, session, inputs, made[0] if made else outputs[0])


def _files(model: FolderModel) -> ModelFiles:
    return ModelFiles(model.name, model.graph, model.tokenizer, "", "", known=False)


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


def is_exact(session: onnxruntime.InferenceSession) -> bool:
    """Whether this processor computes the signed graph rightly."""
    # Processors without 8-bit dot products cut off sums of signed products, silently: vectors
    # would be wrong. The graph carries a product that shows it.
    ids = np.zeros((1, 1), np.int64)
    (check,) = session.run(["check"], {"input_ids": ids})
    return bool((check == CHECK_VALUE).all())


def runner(
    files: ModelFiles, pieces: WordPieces, session: onnxruntime.InferenceSession, window: int
) -> Runner:
    """What runs texts through an open session; ModelError for a model that is not BERT's like."""
    inputs = frozenset(item.name for item in session.get_inputs())
    if not inputs <= _SUPPORTED_INPUTS:
        raise ModelError(
            f"The model {files.model} wants {', '.join(sorted(inputs - _SUPPORTED_INPUTS))}, "
            "which a BERT model has not.",
            hint="Use a BERT model exported to ONNX, or leave `model_dir` out.",
        )
    return Runner(pieces, window, session, inputs, session.get_outputs()[0].name)


def open_session(
    files: ModelFiles, graph: Path | bytes, *, optimise: bool = False
) -> onnxruntime.InferenceSession:
    """Open a graph with our own settings for threads and memory; ModelError when it is damaged."""
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
