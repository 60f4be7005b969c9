"""The two pipes of a stdio session: lines in, lines out, and nothing else on the way out."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

CHUNK = 64 * 1024
MOST_LINE_BYTES = 8 * 1024 * 1024

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Pipes:
    """File descriptors that carry the protocol, and that nobody else knows."""

    read: int
    write: int


def claim_pipes() -> Pipes:
    """Take stdin and stdout for the protocol alone.

    From here on descriptor 0 reads nothing and descriptor 1 is stderr: what a library prints, or
    a child, or C, cannot get between the messages.
    """
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    pipes = Pipes(_moved(0), _moved(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # the client closed stderr
        os.dup2(nothing, 1)
    os.close(nothing)
    return pipes


def _moved(number: int) -> int:
    """A copy that no child inherits; a closed descriptor is an empty pipe."""
    try:
        return os.dup(number)
    except OSError:
        return os.open(os.devnull, os.O_RDWR)


def lines_of(read: Callable[[], bytes], most: int = MOST_LINE_BYTES) -> Iterator[bytes | None]:
    """Whole lines without their end, None for one that was over the limit; `read` gives pieces.

    A last line without an end counts: a client may write its last message so.
    """
    buffer = bytearray()
    over = False
    while piece := read():
        *ended, rest = piece.split(b"\n")
        for part in ended:
            buffer += part
            yield None if over or len(buffer) > most else bytes(buffer)
            buffer.clear()
            over = False
        buffer += rest
        if len(buffer) > most:
            over = True
            buffer.clear()
    if buffer or over:
        yield None if over else bytes(buffer)


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it was understood: the text to hand on, or the answer that refuses it.

    `asks` is the id when it is a request, which will have an answer.
    """

    text: str = ""
    refusal: str = ""
    asks: str | int | None = None


def understood(line: bytes | None) -> Line | None:
    """What a line is; None for an empty one.

    Halves of surrogate pairs are replaced, as no encoder takes them.
    """
    if line is None:
        return Line(refusal=refusal(None, INVALID_REQUEST, "The message is too long."))
    if not line.strip():
        return None
    try:
        data = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Line(refusal=refusal(None, PARSE_ERROR, "That is not JSON."))
    if not isinstance(data, dict):
        sentence = "One JSON-RPC message at a time, as an object: batches are not served."
        return Line(refusal=refusal(None, INVALID_REQUEST, sentence))
    return _message(data)


def _message(data: dict[str, object]) -> Line:
    given = data.get("id")
    known = given if isinstance(given, str | int) and not isinstance(given, bool) else None
    answers = "result" in data or "error" in data
    if data.get("jsonrpc") != "2.0" or not (isinstance(data.get("method"), str) or answers):
        return Line(refusal=refusal(known, INVALID_REQUEST, "That is no JSON-RPC 2.0 message."))
    if "id" in data and known is None and not answers:
        return Line(refusal=refusal(None, INVALID_REQUEST, "An id is a text or a whole number."))
    if not isinstance(data.get("params") or {}, dict):
        return Line(refusal=refusal(known, INVALID_REQUEST, "`params` must be an object."))
    try:
        text = json.dumps(data, ensure_ascii=False)
    except (ValueError, RecursionError):
        return Line(refusal=refusal(known, PARSE_ERROR, "The message is nested too deeply."))
    return Line(_HALF.sub("\ufffd", text), asks=None if answers else known)


def refusal(message_id: str | int | None, code: int, sentence: str) -> str:
    """A JSON-RPC error."""
    error = {"code": code, "message": sentence}
    return json.dumps({"jsonrpc": "2.0", "id": message_id, "error": error})


def write_all(pipe: int, line: str) -> None:
    """One line out; raises BrokenPipeError when the client is gone."""
    data = memoryview(line.encode("utf-8", "replace") + b"\n")
    while data:
        data = data[os.write(pipe, data) :]
