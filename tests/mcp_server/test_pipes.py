"""Lines of a stdio session: junk, halves, floods."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest

from khiip_sidecar.mcp_server.pipes import lines_of, understood

GOOD = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


def pieces(parts: Iterable[bytes]) -> Callable[[], bytes]:
    left = [*parts, b""]
    return lambda: left.pop(0)


def test_lines_come_whole_however_they_were_cut() -> None:
    read = pieces([b"one\ntw", b"o\n", b"\nthree"])
    assert list(lines_of(read)) == [b"one", b"two", b"", b"three"]


def test_a_line_over_the_limit_is_passed_over_and_the_next_is_read() -> None:
    read = pieces([b"a" * 30, b"a" * 30 + b"\nnext\n", b"b" * 60 + b"\nlast"])
    assert list(lines_of(read, most=50)) == [None, b"next", None, b"last"]


def test_a_flood_without_an_end_keeps_no_more_than_the_limit() -> None:
    assert list(lines_of(pieces([b"a" * 40] * 500), most=50)) == [None]


def test_a_message_is_handed_on_and_a_request_waited_for() -> None:
    line = understood(json.dumps(GOOD).encode())
    assert line is not None
    assert json.loads(line.text) == GOOD
    assert line.asks == 7


def test_an_answer_of_the_client_is_not_waited_for() -> None:
    line = understood(b'{"jsonrpc":"2.0","id":"7","result":{}}')
    assert line is not None
    assert (line.asks, line.refusal) == (None, "")


@pytest.mark.parametrize(
    ("line", "code", "message_id"),
    [
        (b"junk", -32700, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"pi', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"\xff\xfe\x00", -32700, None),
        (b"[]", -32600, None),
        (b"7", -32600, None),
        (b'{"id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":"a"}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', -32600, 7),
        (None, -32600, None),
    ],
)
def test_what_is_no_message_is_refused_by_name(
    line: bytes | None, code: int, message_id: object
) -> None:
    meant = understood(line)
    assert meant is not None
    refused = json.loads(meant.refusal)
    assert refused["error"]["code"] == code
    assert refused["id"] == message_id
    assert refused["jsonrpc"] == "2.0"


@pytest.mark.parametrize("line", [b"", b"  \r", b"\t"])
def test_an_empty_line_says_nothing(line: bytes) -> None:
    assert understood(line) is None


def test_half_a_surrogate_pair_is_replaced() -> None:
    line = understood(b'{"jsonrpc":"2.0","id":1,"method":"a \\ud83d b"}')
    assert line is not None
    assert json.loads(line.text)["method"] == "a \ufffd b"
    line.text.encode()
