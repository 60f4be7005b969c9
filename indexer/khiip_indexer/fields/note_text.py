"""Bytes of a note -> text with `\\n` line ends, no byte-order mark, no NUL; pure."""

from __future__ import annotations

import codecs

from khiip_indexer.types import Problem

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_note(raw: bytes, path: str) -> tuple[str, list[Problem]]:
    """Decode a note; bytes that are no text become U+FFFD and one problem names their line."""
    problems: list[Problem] = []
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        text = _decode_wide(raw)
        if not text:
            text = raw.decode("utf-8", errors="replace")
            problems.append(_not_utf8(path, raw, error))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        # A NUL would end the text for the full-text index, and everything behind it.
        text = text.replace("\0", " ")
    return text.lstrip("\ufeff"), problems


def _decode_wide(raw: bytes) -> str:
    for mark, encoding in _WIDE_MARKS:
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    return ""


def _not_utf8(path: str, raw: bytes, error: UnicodeDecodeError) -> Problem:
    before = raw[: error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return Problem(
        path,
        "invalid_utf8",
        f"not valid UTF-8: {error.reason}; unreadable bytes are shown as U+FFFD",
        before.count(b"\n") + 1,
        "Save the note as UTF-8.",
    )
