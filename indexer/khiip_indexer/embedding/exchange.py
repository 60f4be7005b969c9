"""One POST of JSON within a deadline, by the standard library.

A client library would bring its own pools, redirects and proxies: here nothing is followed, so
that a key and a text go to the one address that the user named.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

MOST_BYTES = 256 * 1024 * 1024
_PIECE = 1 << 16
T = TypeVar("T")


class Unreachable(Exception):
    """Nobody answered in time, or the connection broke; the text says which."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: status, the Retry-After header, the body, the Location header."""

    status: int
    retry_after: str | None
    body: bytes
    location: str | None = None


Post = Callable[[str, Mapping[str, str], object, float], Answer]


def post(url: str, headers: Mapping[str, str], body: object, seconds: float) -> Answer:
    """Send `body` as JSON and read the whole answer; Unreachable when `seconds` are over."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    # A server that sends a byte now and then never meets the timeout of a single read.
    watchdog = threading.Timer(seconds, _cut, (connection,))
    watchdog.daemon = True
    watchdog.start()
    try:
        sent = json.dumps(body).encode()
        every = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        connection.request("POST", parts.path or "/", sent, every)
        response = connection.getresponse()
        header = response.getheader
        body = _read(response)
        return Answer(response.status, header("Retry-After"), body, header("Location"))
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        if isinstance(error, TimeoutError) or watchdog.finished.is_set():
            raise Unreachable(f"no answer within {seconds:g} s") from error
        raise Unreachable(f"the connection failed ({type(error).__name__})") from error
    finally:
        watchdog.cancel()
        connection.close()


def _read(response: http.client.HTTPResponse) -> bytes:
    pieces, size = [], 0
    while piece := response.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            raise http.client.HTTPException("the answer is too long")
    if response.length:  # reading by pieces takes an early end for the end
        raise http.client.IncompleteRead(b"", response.length)
    return b"".join(pieces)


def _cut(connection: http.client.HTTPConnection) -> None:
    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has just ended by itself


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` gives or raises, Unreachable when it takes longer: it is then left alone.

    Looking up a name has no deadline of its own, and a search must not wait for it.
    """
    results: list[T] = []
    faults: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001 -- raised again where it is waited for
            faults.append(error)

    thread = threading.Thread(target=run, name="embed-query", daemon=True)
    thread.start()
    thread.join(seconds)
    if faults:
        raise faults[0]
    if not results:
        raise Unreachable(f"no answer within {seconds:g} s")
    return results[0]


def now() -> float:
    """Seconds that only ever go on."""
    return time.monotonic()
