"""Answers that stay true until somebody writes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
# What takes longer than this to compute may be this many times as old as it took.
_DEAR_SECONDS = 0.05
_TIMES = 20
_MOST = 256


class Memo:
    """Keeps what was computed over a reading connection until the cache changes.

    SQLite tells each connection whether another one has committed since; asking costs a few
    microseconds, counting ten thousand rows some hundreds.
    """

    def __init__(self) -> None:
        # A connection that is gone takes along what was kept of it.
        self._kept: WeakKeyDictionary[sqlite3.Connection, tuple[int, dict[Hashable, Any]]]
        self._kept = WeakKeyDictionary()
        self._dear: tuple[Hashable, float, Any] = (None, 0.0, None)

    def get(self, connection: sqlite3.Connection, key: Hashable, compute: Callable[[], T]) -> T:
        """The kept answer to `key`, computed when there is none or the cache has changed."""
        version = int(connection.execute("PRAGMA data_version").fetchone()[0])
        known, answers = self._kept.get(connection, (None, {}))
        if known != version or len(answers) >= _MOST:
            answers = {}
            self._kept[connection] = (version, answers)
        if key not in answers:
            answers[key] = compute()
        answer: T = answers[key]
        return answer

    def get_dear(self, mark: Hashable, compute: Callable[[], T]) -> T:
        """The kept answer while `mark` is the same, even if a little out of date.

        While notes pour in everything changes all the time, and whoever asks how far it is would
        have everything counted again each time. Only what is dear to compute is kept so.
        """
        known, until, answer = self._dear
        if known == mark and time.monotonic() < until:
            kept: T = answer
            return kept
        began = time.monotonic()
        computed = compute()
        took = time.monotonic() - began
        if took > _DEAR_SECONDS:
            self._dear = (mark, time.monotonic() + took * _TIMES, computed)
        return computed
