"""How much of the system's memory a process that stays holds on to."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_ARENA_MAX = -8  # mallopt(3)
_ARENAS = 2


def share_arenas() -> None:
    """Let all threads take their memory from two arenas; to be called before there are any.

    glibc gives each thread an arena of its own, eight for each processor at most, and what is
    free in one of them is of no use to the others: under load that made 20 MiB. Python takes
    turns anyway. Other C libraries have no such setting, and need none.
    """
    with suppress(AttributeError, OSError, TypeError):  # no mallopt, or no library by no name
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _ARENAS)
