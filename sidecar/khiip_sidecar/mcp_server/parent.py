"""Whether the process that started this one is still there."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

LOOK_SECONDS = 1.0


def watch_parent(
    gone: Callable[[], object],
    *,
    parent: Callable[[], int] = os.getppid,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Call `gone`, from a thread, once the process has another parent than now.

    A client that was killed closes no pipe that others hold open, so that stdin may never end.
    """
    first = parent()

    def watch() -> None:
        while parent() == first:
            sleep(LOOK_SECONDS)
        gone()

    threading.Thread(target=watch, name="khiip-parent", daemon=True).start()
