"""MiniLM's layers written anew for onnxruntime: the packaged weights, about a third of the work.

The packaged file holds int8 weights, one scale per output channel, and multiplies in float. Here
the same int8 weights meet activations rounded to 8 bits, so that products are integer ones:

- queries, keys, values and the attention's output take one activation scale per text;
- the two feed-forward products take one scale per word piece. A single piece often carries one
  activation ten times larger than all others; a shared scale would leave the others no digits.

Scales are taken from one text, so a graph run sees exactly one text: its vector cannot depend on
neighbours, and nothing needs a mask. LayerNormalization stays apart from the residual sum
because the fused operator (SkipLayerNormalization) is not vectorised on x86 processors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

# Part of the model's identity: raise it whenever a vector could change.
GRAPH_VERSION = 1

LAYERS = 6
HEADS = 12
DIMENSION = 384
POSITIONS = 256

_OPSET = 17
_IR_VERSION = 10  # the oldest that holds this opset, for the widest range of onnxruntime
_CONTRIB = "com.microsoft"
_EPSILON = 1e-12
_EMBEDDINGS = "inner.embeddings."

# Signed activations fill 1..255 around 128. GELU never falls below -0.17: with rows scaled to at
# most 1 and by no less than 1.2, zero at 32 of 255 leaves nearly all steps to the positive side.
_SIGNED = (np.float32(1 / 127), np.uint8(128), np.float32(1e-6))
_GELU = (np.float32(1 / 223), np.uint8(32), np.float32(1.2))

# Sums of neighbouring products reach 2 * 255 * 127, which overflows 16 bits: a processor without
# 8-bit dot products cuts it off silently. These operands show it.
_CHECK_ROWS, _CHECK_DEPTH, _CHECK_COLUMNS = 4, 64, 32
CHECK_VALUE = float(_CHECK_DEPTH * 255 * 127)

FloatArray = NDArray[np.float32]
_Attribute = int | float | Sequence[int]


@dataclass(frozen=True, slots=True)
class _Linear:
    """`weight` (inputs, outputs) int8 with one `scale` per output, and `bias`."""

    weight: NDArray[np.int8]
    scale: FloatArray
    bias: FloatArray


class _Weights:
    """The packaged file's tensors by the names that MiniLM's own modules have."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._tensors = {item.name: item for item in model.graph.initializer}
        self._weight_of_bias = _weights_beside_biases(model)

    def tensor(self, name: str) -> NDArray[Any]:
        return numpy_helper.to_array(self._tensors[name])

    def table(self, name: str) -> tuple[NDArray[np.int8], FloatArray]:
        return self.tensor(f"{name}_q"), self.tensor(f"{name}_scale")

    def linear(self, module: str) -> _Linear:
        bias = f"{module}.bias"
        weight, scale = self.table(self._weight_of_bias[bias])
        return _Linear(weight, scale.reshape(-1), self.tensor(bias))


def _weights_beside_biases(model: onnx.ModelProto) -> dict[str, str]:
    # The exporter named weight matrices by number; the bias added to a product tells whose it is.
    maker = {name: node for node in model.graph.node for name in node.output}
    found: dict[str, str] = {}
    for node in model.graph.node:
        if node.op_type != "Add":
            continue
        for bias, product in (node.input, reversed(node.input)):
            source = maker.get(product)
            if bias.endswith(".bias") and source is not None and source.op_type == "MatMul":
                found[bias] = source.input[1]
    return found


class _Graph:
    """Collects nodes and constants; every operation returns the name of its result."""

    def __init__(self, unsigned: bool) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._unsigned = unsigned

    def constant(self, name: str, value: NDArray[Any] | np.generic) -> str:
        array = np.ascontiguousarray(value) if isinstance(value, np.ndarray) else np.asarray(value)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def op(self, kind: str, inputs: Sequence[str], output: str, **attributes: _Attribute) -> str:
        return self.ops(kind, inputs, [output], **attributes)[0]

    def ops(
        self, kind: str, inputs: Sequence[str], outputs: list[str], **attributes: _Attribute
    ) -> list[str]:
        domain = _CONTRIB if kind in _CONTRIB_KINDS else ""
        node = helper.make_node(kind, inputs, outputs, outputs[0], None, domain, None, **attributes)
        self.nodes.append(node)
        return outputs

    def weight(self, name: str, weight: NDArray[np.int8]) -> tuple[str, str]:
        """Store a weight matrix; gives the names of it and of its zero point ("" for none)."""
        if not self._unsigned:
            return self.constant(f"{name}.weight", weight), ""
        shifted = (weight.astype(np.int16) + 128).astype(np.uint8)
        zero = np.full(weight.shape[1], 128, np.uint8)
        return self.constant(f"{name}.weight", shifted), self.constant(f"{name}.zero", zero)


_CONTRIB_KINDS = frozenset(
    {"DynamicQuantizeMatMul", "MatMulIntegerToFloat", "MultiHeadAttention", "BiasGelu"}
)


def build_graph(source: Path, *, unsigned: bool) -> bytes:
    """Write the fast graph for the packaged weights as a serialised ONNX model.

    Input `input_ids` (1, pieces) int64; outputs `embedding` (1, 384), the mean over the pieces,
    not normalised, and `check`, every element of which is CHECK_VALUE where 8-bit products are
    exact. `unsigned` stores weights shifted by 128: the same integers, hence the same vectors,
    exact on every processor, and slower on those that have 8-bit dot products. Raises KeyError
    for a file whose tensors are not those of the packaged export.
    """
    weights = _Weights(onnx.load(str(source)))
    graph = _Graph(unsigned)
    state = _embed_pieces(graph, weights)
    for number in range(LAYERS):
        state = _layer(graph, weights, number, state)
    graph.op("ReduceMean", [state], "embedding", axes=[1], keepdims=0)
    _arithmetic_check(graph)
    return _serialise(graph)


def _serialise(graph: _Graph) -> bytes:
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        graph.nodes,
        "minilm",
        [value("input_ids", TensorProto.INT64, [1, "pieces"])],
        [
            value("embedding", TensorProto.FLOAT, [1, DIMENSION]),
            value("check", TensorProto.FLOAT, [_CHECK_ROWS, _CHECK_COLUMNS]),
        ],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, 1)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=_IR_VERSION)
    return bytes(model.SerializeToString(deterministic=True))


def _embed_pieces(graph: _Graph, weights: _Weights) -> str:
    words, scales = weights.table(f"{_EMBEDDINGS}word_embeddings.weight")
    rows = graph.op("Gather", [graph.constant("words", words), "input_ids"], "words.rows")
    scale = graph.op("Gather", [graph.constant("words.scale", scales), "input_ids"], "words.scales")
    floats = graph.op("Cast", [rows], "words.float", to=TensorProto.FLOAT)
    embedded = graph.op("Mul", [floats, scale], "words.embedded")
    summed = graph.op("Add", [embedded, _positions(graph, weights)], "embeddings.sum")
    return _normalised(graph, weights, f"{_EMBEDDINGS}LayerNorm", summed, "embeddings")


def _positions(graph: _Graph, weights: _Weights) -> str:
    # Every piece has token type 0, so that its embedding is part of each position's.
    table, scale = weights.table(f"{_EMBEDDINGS}position_embeddings.weight")
    kind = weights.tensor(f"{_EMBEDDINGS}token_type_embeddings.weight")[0]
    rows = (table[:POSITIONS] * scale[:POSITIONS] + kind).astype(np.float32)
    count = graph.op("Shape", ["input_ids"], "pieces.count", start=1, end=2)
    zero = graph.constant("zero", np.zeros(1, np.int64))
    return graph.op("Slice", [graph.constant("positions", rows), zero, count, zero], "position")


def _layer(graph: _Graph, weights: _Weights, number: int, state: str) -> str:
    module = f"inner.encoder.layer.{number}"
    name = f"layer{number}"
    attended = _attention(graph, weights, module, name, state)
    norm = f"{module}.attention.output.LayerNorm"
    summed = graph.op("Add", [attended, state], f"{name}.attended")
    state = _normalised(graph, weights, norm, summed, f"{name}.middle")
    fed = _feed_forward(graph, weights, module, name, state)
    summed = graph.op("Add", [fed, state], f"{name}.fed")
    return _normalised(graph, weights, f"{module}.output.LayerNorm", summed, f"{name}.state")


def _normalised(graph: _Graph, weights: _Weights, module: str, state: str, name: str) -> str:
    gain = graph.constant(f"{name}.gain", weights.tensor(f"{module}.weight"))
    shift = graph.constant(f"{name}.shift", weights.tensor(f"{module}.bias"))
    return graph.op("LayerNormalization", [state, gain, shift], name, epsilon=_EPSILON, axis=-1)


def _attention(graph: _Graph, weights: _Weights, module: str, name: str, state: str) -> str:
    parts = [weights.linear(f"{module}.attention.self.{p}") for p in ("query", "key", "value")]
    joined = _Linear(
        np.concatenate([part.weight for part in parts], axis=1),
        np.concatenate([part.scale for part in parts]),
        np.concatenate([part.bias for part in parts]),
    )
    product = _scaled_per_text(graph, joined, f"{name}.qkv", state)
    sizes = graph.constant(f"{name}.qkv.sizes", np.full(3, DIMENSION, np.int64))
    outputs = [f"{name}.query", f"{name}.key", f"{name}.value"]
    heads = graph.ops("Split", [product, sizes], outputs, axis=-1)
    context = graph.op("MultiHeadAttention", heads, f"{name}.context", num_heads=HEADS)
    dense = weights.linear(f"{module}.attention.output.dense")
    return _scaled_per_text(graph, dense, f"{name}.attention", context)


def _feed_forward(graph: _Graph, weights: _Weights, module: str, name: str, state: str) -> str:
    inner = weights.linear(f"{module}.intermediate.dense")
    outer = weights.linear(f"{module}.output.dense")
    grown = _scaled_per_piece(graph, inner, f"{name}.inner", state, _largest(graph, state))
    bias = graph.constant(f"{name}.inner.bias", inner.bias)
    active = graph.op("BiasGelu", [grown, bias], f"{name}.gelu")
    shrunk = _scaled_per_piece(graph, outer, f"{name}.outer", active, None)
    bias = graph.constant(f"{name}.outer.bias", outer.bias)
    return graph.op("Add", [shrunk, bias], f"{name}.outer.biased")


def _scaled_per_text(graph: _Graph, linear: _Linear, name: str, state: str) -> str:
    weight, zero = graph.weight(name, linear.weight)
    scale = graph.constant(f"{name}.scale", linear.scale)
    bias = graph.constant(f"{name}.bias", linear.bias)
    return graph.op("DynamicQuantizeMatMul", [state, weight, scale, zero, bias], name)


def _largest(graph: _Graph, state: str) -> str:
    """The largest magnitude of each row, for activations of either sign."""
    magnitude = graph.op("Abs", [state], f"{state}.magnitude")
    return graph.op("ReduceMax", [magnitude], f"{state}.largest", axes=[-1], keepdims=1)


def _scaled_per_piece(
    graph: _Graph, linear: _Linear, name: str, state: str, largest: str | None
) -> str:
    """Product without bias; `largest` is each row's magnitude, None for the output of a GELU."""
    step, zero, least = _GELU if largest is None else _SIGNED
    if largest is None:
        largest = graph.op("ReduceMax", [state], f"{name}.largest", axes=[-1], keepdims=1)
    # Never nought: a row of zeros must stay zeros.
    row = graph.op("Max", [largest, graph.constant(f"{name}.least", least)], f"{name}.row")
    scaled = graph.op("Div", [state, row], f"{name}.scaled")
    step_name = graph.constant(f"{name}.step", step)
    zero_name = graph.constant(f"{name}.origin", zero)
    rounded = graph.op("QuantizeLinear", [scaled, step_name, zero_name], f"{name}.rounded")
    weight, weight_zero = graph.weight(name, linear.weight)
    scale = graph.constant(f"{name}.scale", linear.scale)
    inputs = [rounded, weight, step_name, scale, zero_name, weight_zero]
    product = graph.op("MatMulIntegerToFloat", inputs, f"{name}.product")
    return graph.op("Mul", [product, row], name)


def _arithmetic_check(graph: _Graph) -> None:
    """An output that is CHECK_VALUE throughout, unless the processor's 8-bit products overflow."""
    left = graph.constant("check.left", np.full((_CHECK_ROWS, _CHECK_DEPTH), 255, np.uint8))
    matrix = np.full((_CHECK_DEPTH, _CHECK_COLUMNS), 127, np.int8)
    right, zero = graph.weight("check", matrix)
    one = graph.constant("check.one", np.float32(1))
    ones = graph.constant("check.ones", np.ones(_CHECK_COLUMNS, np.float32))
    origin = graph.constant("check.origin", np.uint8(0))
    graph.op("MatMulIntegerToFloat", [left, right, one, ones, origin, zero], "check")
