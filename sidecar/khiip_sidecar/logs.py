"""What `serve` says while it runs: one line each, with time and level, on stderr."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

LEVELS = ("debug", "info", "warning", "error")
_FRAMES = 3


class OneLine(logging.Formatter):
    """`2026-05-04T10:20:30Z info what happened`, in UTC.

    Of an exception only its kind and where it came from: its text may be that of a note.
    """

    def format(self, record: logging.LogRecord) -> str:
        said = " ".join(record.getMessage().split())
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        line = f"{when} {record.levelname.lower()} {said}"
        if record.exc_info and record.exc_info[0] is not None:
            line += f": {record.exc_info[0].__name__} at {_where(record.exc_info[2])}"
        return "".join(char if char.isprintable() else "?" for char in line)


def _where(trace: TracebackType | None) -> str:
    frames = traceback.extract_tb(trace)[-_FRAMES:]
    places = [f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames]
    return " < ".join(reversed(places)) or "an unknown place"


@contextmanager
def written_logs(stream: TextIO, level: str) -> Iterator[None]:
    """Send what the program and its libraries log to the stream, from `level` on."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(OneLine())
    root = logging.getLogger()
    ours = [logging.getLogger(name) for name in ("khiip_indexer", "khiip_sidecar")]
    before = (root.handlers, root.level, [each.level for each in ours])
    root.handlers = [handler]
    root.setLevel(logging.WARNING)  # libraries speak of themselves below that
    for each in ours:
        each.setLevel(level.upper())
    logging.captureWarnings(True)
    try:
        yield
    finally:
        logging.captureWarnings(False)
        root.handlers, root_level, levels = before
        root.setLevel(root_level)
        for each, old in zip(ours, levels, strict=True):
            each.setLevel(old)
