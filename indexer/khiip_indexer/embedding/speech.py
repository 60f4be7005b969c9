"""What the two kinds of server are asked and how they answer; pure."""

from __future__ import annotations

import base64
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
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
_MOST_DIGITS = 9


def address(choice: EmbedderChoice) -> str:
    """Where texts are sent to."""
    base = (choice.url or "").rstrip("/")
    return f"{base}/api/embed" if choice.kind == "ollama" else f"{base}/embeddings"


def question(choice: EmbedderChoice, texts: Sequence[str]) -> dict[str, object]:
    """The body of one request; the form of the vectors is left to the server."""
    asked: dict[str, object] = {"model": choice.model, "input": list(texts)}
    if choice.shorten and choice.dimension:
        named = choice.shorten if isinstance(choice.shorten, str) else "dimensions"
        asked[named] = choice.dimension
    return asked


def rows_of(choice: EmbedderChoice, body: bytes, count: int) -> list[object]:
    """One row for each text, in the order of the texts; RuntimeError where it is not so."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RuntimeError(f"the server's answer is not JSON{_asked(choice)}") from error
    rows = _ollama_rows(said) if choice.kind == "ollama" else _openai_rows(said)
    if rows is None:
        wanted = "embeddings" if choice.kind == "ollama" else "data"
        raise RuntimeError(f"the server's answer has no `{wanted}`{_asked(choice)}")
    if len(rows) != count:
        raise RuntimeError(f"the server gave {len(rows)} vectors for {count} texts")
    return rows


def _asked(choice: EmbedderChoice) -> str:
    return f" ({address(choice)} was asked{wants_version(choice)})"


def wants_version(choice: EmbedderChoice) -> str:
    """What is most often forgotten of an address, as the end of a sentence; else ""."""
    if choice.kind == "ollama" or choice.url != choice.address:
        return ""
    return f"; most servers of this kind want {choice.url}/v1 as `url`"


def _ollama_rows(said: object) -> list[object] | None:
    rows = said.get("embeddings") if isinstance(said, dict) else None
    return rows if isinstance(rows, list) else None


def _openai_rows(said: object) -> list[object] | None:
    data = said.get("data") if isinstance(said, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        return None
    places = [item.get("index", place) for place, item in enumerate(data)]
    if sorted(map(str, places)) != sorted(map(str, range(len(data)))):
        raise RuntimeError("the server's vectors have no order")
    return [item.get("embedding") for _, item in sorted(zip(places, data, strict=True), key=_place)]


def _place(pair: tuple[int, Mapping[str, object]]) -> int:
    return int(pair[0])


def unit(row: object, dimension: int | None) -> Vectors:
    """A row as a vector of length 1; RuntimeError where it is none of this dimension.

    A row is a list of numbers, or base64 of float32 with the lowest byte first.
    """
    try:
        vector = np.asarray(_unpacked(row) if isinstance(row, str) else row, np.float64)
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


def _unpacked(row: str) -> Vectors:
    return np.frombuffer(base64.b64decode(row, validate=True), "<f4")


def pause(attempt: int, retry_after: str | None, now: datetime | None = None) -> float:
    """Seconds before the next attempt: what the server asks for, else twice as long each time."""
    usual = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**attempt)
    return max(usual, asked_for(retry_after, now))


def asked_for(retry_after: str | None, now: datetime | None = None) -> float:
    """Seconds that a server asks to be left alone for; 0 where it says nothing that is a time."""
    said = (retry_after or "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:_MOST_DIGITS])
    try:
        at = parsedate_to_datetime(said)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0


def in_words(seconds: float) -> str:
    """A time as it is told to people: "20 seconds", "an hour", "2 days"."""
    for size, one, many in _TIMES:
        if seconds >= 0.95 * size:
            count = round(seconds / size)
            return one if count <= 1 else f"{count} {many}"
    return "a moment"


_TIMES = (
    (86400, "a day", "days"),
    (3600, "an hour", "hours"),
    (60, "a minute", "minutes"),
    (1, "a second", "seconds"),
)
