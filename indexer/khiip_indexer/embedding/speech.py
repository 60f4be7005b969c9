"""What the two kinds of server are asked and how they answer; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import numpy as np

from khiip_indexer.embedding.choice import EmbedderChoice

if TYPE_CHECKING:
    from khiip_indexer.model.session import Vectors

# What may be over in a moment; 500 may also be about the very text.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
REFUSED = frozenset({401, 402, 403})
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0


def question(choice: EmbedderChoice, texts: Sequence[str]) -> tuple[str, dict[str, object]]:
    """Address and body of one request."""
    base = (choice.url or "").rstrip("/")
    asked: dict[str, object] = {"model": choice.model, "input": list(texts)}
    if choice.kind == "ollama":
        return f"{base}/api/embed", asked
    if choice.shorten and choice.dimension:
        asked["dimensions"] = choice.dimension
    return f"{base}/embeddings", asked | {"encoding_format": "float"}


def rows_of(choice: EmbedderChoice, body: bytes, count: int) -> list[object]:
    """One row for each text, in the order of the texts; RuntimeError where it is not so."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RuntimeError("the server's answer is not JSON") from error
    rows = _ollama_rows(said) if choice.kind == "ollama" else _openai_rows(said)
    if len(rows) != count:
        raise RuntimeError(f"the server gave {len(rows)} vectors for {count} texts")
    return rows


def _ollama_rows(said: object) -> list[object]:
    rows = said.get("embeddings") if isinstance(said, dict) else None
    if isinstance(rows, list):
        return rows
    raise RuntimeError("the server's answer has no `embeddings`")


def _openai_rows(said: object) -> list[object]:
    data = said.get("data") if isinstance(said, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise RuntimeError("the server's answer has no `data`")
    places = [item.get("index", place) for place, item in enumerate(data)]
    if sorted(map(str, places)) != sorted(map(str, range(len(data)))):
        raise RuntimeError("the server's vectors have no order")
    return [item.get("embedding") for _, item in sorted(zip(places, data, strict=True), key=_place)]


def _place(pair: tuple[int, Mapping[str, object]]) -> int:
    return int(pair[0])


def unit(row: object, dimension: int | None) -> Vectors:
    """A row as a vector of length 1; RuntimeError where it is none of this dimension."""
    try:
        vector = np.asarray(row, np.float64)
    except (TypeError, ValueError) as error:
        raise RuntimeError("the server gave something else than numbers") from error
    if vector.ndim != 1 or vector.size == 0:
        raise RuntimeError("the server gave no vector")
    if dimension is not None and vector.size != dimension:
        raise RuntimeError(f"the server gave {vector.size} dimensions, not {dimension}")
    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0.0:
        raise RuntimeError("the server gave a vector without a direction")
    return np.asarray(vector / length, np.float32)


def pause(attempt: int, retry_after: str | None, now: datetime | None = None) -> float:
    """Seconds before the next attempt: what the server asks for, else twice as long each time."""
    usual = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**attempt)
    if retry_after is None:
        return usual
    if retry_after.strip().isdigit():
        return max(usual, float(retry_after))
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return usual
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(usual, (at - (now or datetime.now(UTC))).total_seconds())
