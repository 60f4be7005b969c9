"""File names as text that UTF-8 can hold, and back; a name need not be UTF-8 on disk.

A byte that is no UTF-8 (and so a lone surrogate in Python's text) becomes U+FFFD followed by its
two hexadecimal digits: readable, and the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile("\ufffd(?:u(D[89A-F][0-9A-F]{2})|([89A-F][0-9A-F]))")


def encode_path(path: str) -> str:
    """A path from the file system as text without surrogates; most are returned as they are."""
    if path.isascii() or not _SURROGATE.search(path):
        return path
    return _SURROGATE.sub(_escape, path)


def decode_path(path: str) -> str:
    """The path to give to the file system for a text from `encode_path`."""
    if path.isascii() or "\ufffd" not in path:
        return path
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16) if m[1] else 0xDC00 + int(m[2], 16)), path)


def folders_above(path: str) -> Iterator[str]:
    """The folders that a vault-relative path is in, the nearest first, without the vault itself."""
    end = path.rfind("/")
    while end != -1:
        yield path[:end]
        end = path.rfind("/", 0, end)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    low_byte = 0xDC80 <= code <= 0xDCFF
    return f"\ufffd{code - 0xDC00:02X}" if low_byte else f"\ufffdu{code:04X}"
