"""What every test folder shares: an embedder without a model, small vaults, waiting."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_indexer.errors import ModelError
from khiip_indexer.types import ModelIdentity, Spans

FAKE_DIMENSION = 64


class FakeEmbedder:
    """Bags of hashed words as vectors: texts that share words are near, the rest is not.

    A text is one piece per run of non-blank characters. `calls` counts calls of `embed`, `texts`
    keeps every text in order; a text for which `fail_on` is true raises as a native library
    would, and with `missing` set there is no model at all.
    """

    def __init__(
        self,
        *,
        name: str = "fake-words",
        dimension: int = FAKE_DIMENSION,
        fail_on: Callable[[str], bool] | None = None,
    ) -> None:
        digest = hashlib.sha256(f"{name}:{dimension}".encode()).hexdigest()
        self._identity = ModelIdentity(name, digest, dimension, "mean", 256)
        self.fail_on = fail_on
        self.missing = False
        self.calls = 0
        self.texts: list[str] = []

    @property
    def identity(self) -> ModelIdentity:
        return self._identity

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.missing:
            raise ModelError("model not found: model.onnx", hint="Reinstall khiip.")
        self.calls += 1
        self.texts.extend(texts)
        for text in texts:
            if self.fail_on is not None and self.fail_on(text):
                raise RuntimeError("the model failed on a text")
        rows = [word_vector(text, self._identity.dimension) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._identity.dimension), np.float32)

    def spans(self, text: str) -> Spans:
        return [match.span() for match in re.finditer(r"\S+", text)]


def word_vector(text: str, dimension: int = FAKE_DIMENSION) -> NDArray[np.float32]:
    """The normalised sum of one fixed direction per word; a text without words has its own."""
    total = np.zeros(dimension, np.float64)
    for word in re.findall(r"\w+", text.lower()) or ["\0"]:
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
        seed = int.from_bytes(digest, "big")
        total += np.random.default_rng(seed).standard_normal(dimension)
    return (total / np.linalg.norm(total)).astype(np.float32)


def make_vault(root: Path, notes: Mapping[str, str]) -> Settings:
    """Write a vault at `root` (bytes as given, UTF-8) and settle its settings.

    The user's own folders are kept beside it, under `root.parent`.
    """
    (root / ".obsidian").mkdir(parents=True, exist_ok=True)
    for path, text in notes.items():
        write_note(root, path, text)
    home = root.parent / f"{root.name}-home"
    return load_settings(Overrides(vault=str(root)), {"KHIIP_HOME": str(home)}, root)


def write_note(root: Path, path: str, text: str) -> Path:
    """Write one note, its folders too; line ends stay as given."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return file


def wait_until(true: Callable[[], bool], why: Callable[[], str] = lambda: "") -> None:
    """Wait for something that comes by itself; a minute is far more than it ever takes."""
    for _ in range(6000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError(f"it did not come true within a minute: {why()}")
