"""Ends a service that nobody has asked for a while, as whoever started it may be gone."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from khiip_sidecar.http.answers import Receive, Scope, Send
from khiip_sidecar.http.server import Application

log = logging.getLogger(__name__)

MOST_SECONDS_BETWEEN_LOOKS = 30.0


class IdleExit:
    """Passes requests on, and calls `stop` when there was none for `seconds`.

    Any request counts, `/health` as well, and one that is still being answered counts until its
    end: a program that follows the events is there. So does work on the index (`busy`).
    """

    def __init__(
        self,
        app: Application,
        seconds: float,
        busy: Callable[[], bool],
        stop: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._seconds = seconds
        self._busy = busy
        self._stop = stop
        self._clock = clock
        self._open = 0
        self._last = clock()
        self._closed = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._open += 1  # only the event loop changes it
        try:
            await self._app(scope, receive, send)
        finally:
            self._last = self._clock()
            self._open -= 1

    def close(self) -> None:
        """The service stops: there is nothing to watch any more."""
        self._closed.set()
        self._app.close()

    def start(self) -> None:
        """Look now and then, in a thread that never keeps the process alive."""
        self._last = self._clock()
        threading.Thread(target=self._watch, name="khiip-idle", daemon=True).start()

    def is_due(self) -> bool:
        """Whether nobody has asked for long enough."""
        if self._open or self._busy():
            self._last = self._clock()
        return self._clock() - self._last >= self._seconds

    def _watch(self) -> None:
        pause = min(self._seconds / 10, MOST_SECONDS_BETWEEN_LOOKS)
        while not self._closed.wait(pause):
            if self.is_due():
                log.info("nobody asked for %g s; stopping", self._seconds)
                self._stop()
                return
