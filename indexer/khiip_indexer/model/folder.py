"""What a folder with a sentence-transformers model says of itself, read from its own files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from khiip_indexer.errors import ModelError

Pooling = Literal["mean", "cls", "max", "lasttoken", "mean_sqrt_len_tokens", "weightedmean", "made"]

_POOLING: tuple[tuple[str, Pooling], ...] = (
    ("pooling_mode_cls_token", "cls"),
    ("pooling_mode_mean_tokens", "mean"),
    ("pooling_mode_max_tokens", "max"),
    ("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"),
    ("pooling_mode_weightedmean_tokens", "weightedmean"),
    ("pooling_mode_lasttoken", "lasttoken"),
)
_GRAPHS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
# Names of prompts that people give to the two kinds of text, the usual one first.
_FOR_QUERIES = ("query", "search_query", "s2p_query", "retrieval.query")
_FOR_PASSAGES = ("document", "passage", "search_document", "corpus", "retrieval.passage")
_USUAL_WINDOW = 256
# Where a model could read tens of thousands of pieces, one vector for all of them says little.
_LARGEST_WINDOW = 512
_FAR = 100_000  # some write a huge number where they mean "no limit"


@dataclass(frozen=True, slots=True)
class FolderModel:
    """Files, and how their output becomes a vector; `window` counts special pieces too.

    `dimension` is None where only the model itself tells. `counts_prompt` says whether a prompt's
    own pieces take part in the pooling.
    """

    name: str
    graph: Path
    tokenizer: Path
    pooling: Pooling
    window: int
    dimension: int | None
    query_prompt: str = ""
    passage_prompt: str = ""
    counts_prompt: bool = True


def read_folder(folder: Path) -> FolderModel:
    """Read a folder's description; ModelError names the file that is missing or not understood.

    Without one, what most models do is assumed: mean pooling and no prompts.
    """
    graph, tokenizer = _graph(folder), _tokenizer(folder)
    modules = _list(folder / "modules.json")
    for module in modules:
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind not in ("Transformer", "Pooling", "Normalize"):
            raise ModelError(
                f"The model {folder} has a part {kind}, which is not known here.",
                hint="Use a model of a transformer and a pooling.",
                code="model_unsupported",
            )
    pooling = _table(folder / _pooling_folder(modules) / "config.json")
    prompts = _table(folder / "config_sentence_transformers.json")
    config = _table(folder / "config.json")
    return FolderModel(
        name=folder.expanduser().resolve().name,
        graph=graph,
        tokenizer=tokenizer,
        pooling=_mode(folder, pooling),
        window=_window(folder, config),
        dimension=_dimension(pooling, config),
        query_prompt=_prompt(prompts, _FOR_QUERIES),
        passage_prompt=_prompt(prompts, _FOR_PASSAGES),
        counts_prompt=pooling.get("include_prompt", True) is not False,
    )


def _graph(folder: Path) -> Path:
    for name in _GRAPHS:
        if (folder / name).is_file():
            return folder / name
    raise _missing(folder, "model.onnx or onnx/model.onnx")


def _tokenizer(folder: Path) -> Path:
    for name in ("tokenizer.json", "onnx/tokenizer.json", "vocab.txt"):
        if (folder / name).is_file():
            return folder / name
    raise _missing(folder, "tokenizer.json")


def _pooling_folder(modules: list[dict[str, Any]]) -> str:
    for module in modules:
        if str(module.get("type", "")).endswith("Pooling"):
            return str(module.get("path", "1_Pooling"))
    return "1_Pooling"


def _mode(folder: Path, pooling: Mapping[str, Any]) -> Pooling:
    modes = [name for key, name in _POOLING if pooling.get(key) is True]
    if len(modes) > 1:
        raise ModelError(
            f"The model {folder} joins {' and '.join(modes)} pooling, which is not known here.",
            hint="Use a model with one kind of pooling.",
            code="model_unsupported",
        )
    return modes[0] if modes else "mean"


def _window(folder: Path, config: Mapping[str, Any]) -> int:
    """The least of what the files say the model can read."""
    said = [
        _table(folder / "sentence_bert_config.json").get("max_seq_length"),
        _table(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    ]
    known = [n for n in said if isinstance(n, int | float) and 8 <= n < _FAR]
    if not isinstance(said[0], int) and known == [said[2]]:
        # RoBERTa and its kin count two positions that no text can take.
        known = [int(said[2]) - 2] if said[2] == 514 else known
    return min(_LARGEST_WINDOW, int(min(known))) if known else _USUAL_WINDOW


def _dimension(pooling: Mapping[str, Any], config: Mapping[str, Any]) -> int | None:
    for found in (pooling.get("word_embedding_dimension"), config.get("hidden_size")):
        if isinstance(found, int) and found > 0:
            return found
    return None


def _prompt(config: Mapping[str, Any], names: tuple[str, ...]) -> str:
    prompts = config.get("prompts")
    if not isinstance(prompts, dict):
        return ""
    for name in names:
        if isinstance(prompts.get(name), str):
            return str(prompts[name])
    usual = config.get("default_prompt_name")
    return str(prompts.get(usual) or "") if isinstance(usual, str) else ""


def _table(path: Path) -> dict[str, Any]:
    found = _read(path)
    if isinstance(found, dict | None):
        return found or {}
    raise _not_understood(path)


def _list(path: Path) -> list[dict[str, Any]]:
    found = _read(path)
    if found is None:
        return []
    if isinstance(found, list) and all(isinstance(item, dict) for item in found):
        return found
    raise _not_understood(path)


def _read(path: Path) -> object:
    """The content of a JSON file; None where there is no file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(
            f"The file {path} cannot be read: {error}", code="model_damaged"
        ) from error


def _not_understood(path: Path) -> ModelError:
    return ModelError(f"The file {path} is not what it should be.", code="model_damaged")


def _missing(folder: Path, what: str) -> ModelError:
    return ModelError(
        f"model not found: {folder} has no {what}",
        hint="Name the folder of a sentence-transformers model exported to ONNX in `path`.",
        code="model_not_found",
    )
