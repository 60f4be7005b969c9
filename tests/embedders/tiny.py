"""A tiny sentence-transformers folder, made here: a table of word vectors as an ONNX graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

DIMENSION = 8
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", "passage", ":", "red", "green", "blue", "sea")
TABLE: NDArray[np.float32] = (
    np.random.default_rng(7).standard_normal((len(WORDS), DIMENSION)).astype(np.float32)
)


def write_folder(
    folder: Path,
    pooling: Mapping[str, object] | None = None,
    prompts: Mapping[str, str] | None = None,
    *,
    window: int | None = 16,
    normalize: bool = True,
    in_onnx: bool = False,
    made: bool = False,
) -> Path:
    """The folder as an export writes it; `made` has the graph pool by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = folder / "onnx" / "model.onnx" if in_onnx else folder / "model.onnx"
    graph.parent.mkdir(exist_ok=True)
    onnx.save(_model(made=made), str(graph))
    _tokenizer().save(str(folder / "tokenizer.json"))
    modules = ["Transformer", "Pooling", *(["Normalize"] if normalize else [])]
    _json(
        folder / "modules.json",
        [
            {"idx": n, "path": "" if n == 0 else f"{n}_{name}", "type": f"st.models.{name}"}
            for n, name in enumerate(modules)
        ],
    )
    said = {"word_embedding_dimension": DIMENSION, "pooling_mode_mean_tokens": pooling is None}
    _json(folder / "1_Pooling" / "config.json", {**said, **(pooling or {})})
    if prompts is not None:
        _json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    if window is not None:
        _json(folder / "sentence_bert_config.json", {"max_seq_length": window})
    return folder


def _json(path: Path, data: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")


def _model(*, made: bool) -> onnx.ModelProto:
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shapes: dict[str, list[str | int | None]] = {
        "last_hidden_state": ["batch", "pieces", DIMENSION]
    }
    if made:
        axes = numpy_helper.from_array(np.asarray([1], np.int64), "axes")
        reduce = helper.make_node(
            "ReduceMax", ["last_hidden_state", "axes"], ["sentence_embedding"], keepdims=0
        )
        nodes.append(reduce)
        shapes["sentence_embedding"] = ["batch", DIMENSION]
    else:
        axes = None
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "pieces"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    ]
    weights = [numpy_helper.from_array(TABLE, "table"), *([axes] if axes is not None else [])]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def _tokenizer() -> Tokenizer:
    numbers = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As exports have it: a hidden cut-off, and everything padded to it.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=12)
    return tokenizer


def hidden(words: Sequence[str]) -> NDArray[np.float32]:
    """What the graph gives for these words between the two special pieces."""
    known = ["[CLS]", *(word if word in WORDS else "[UNK]" for word in words), "[SEP]"]
    return np.asarray(TABLE[[WORDS.index(word) for word in known]], np.float32)


def unit(row: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(row / np.linalg.norm(row), np.float32)
