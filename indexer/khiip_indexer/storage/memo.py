"""Answers that stay true until somebody writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")
_MOST = 256


class Memo:
    """Keeps what was computed over a reading connection until the cache changes.

    SQLite tells each connection whether another one has committed since; asking costs a few
    microseconds, counting ten thousand rows some hundreds.
    """

    def __init__(self) -> None:
        self._kept: dict[int, tuple[int, dict[Hashable, Any]]] = {}

    def get(self, connection: sqlite3.Connection, key: Hashable, compute: Callable[[], T]) -> T:
        """The kept answer to `key`, computed when there is none or the cache has changed."""
        version = int(connection.execute("PRAGMA data_version").fetchone()[0])
        known, answers = self._kept.get(id(connection), (None, {}))
        if known != version or len(answers) >= _MOST:
            answers = {}
            self._kept[id(connection)] = (version, answers)
        if key not in answers:
            answers[key] = compute()
        answer: T = answers[key]
        return answer
