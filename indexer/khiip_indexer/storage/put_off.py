"""Accesses that are written in a moment, together: an answer need not wait for the disk."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from khiip_indexer.errors import KhiipError
from khiip_indexer.storage.access_rows import Read

# What a process that is killed outright may lose; one that ends by itself or by a signal that it
# can hear loses nothing.
WITHIN_SECONDS = 0.5

_log = logging.getLogger(__name__)


class PutOff:
    """Keeps accesses until `flush`, which comes by itself after `WITHIN_SECONDS`.

    `write` takes all of them at once; `guard` is held meanwhile, so that whoever holds it and has
    flushed reads everything that was added before. Where it gives False, there is no place to
    write to now, and they are kept. What else cannot be written is told in the log and given up:
    there was somebody to answer, and that has been done.
    """

    def __init__(
        self, write: Callable[[Sequence[Read]], bool | None], guard: AbstractContextManager[object]
    ) -> None:
        self._write = write
        self._guard = guard
        self._adding = threading.Lock()
        self._waiting: list[Read] = []

    def add(self, ids: Sequence[str], at: int) -> None:
        """One access of each of these captures, at a moment in milliseconds since 1970."""
        with self._adding:
            self._waiting.append((ids, at))
            first = len(self._waiting) == 1
        if first:
            timer = threading.Timer(WITHIN_SECONDS, self.flush)
            timer.daemon = True  # whoever ends the process flushes
            timer.start()

    def flush(self) -> None:
        """Write what waits, now; returns when no other thread is still at it either."""
        with self._guard:
            with self._adding:
                taken, self._waiting = self._waiting, []
            try:
                if taken and self._write(taken) is False:
                    with self._adding:
                        self._waiting[:0] = taken
            except KhiipError as error:
                _log.warning("accesses could not be written: %s", error)
