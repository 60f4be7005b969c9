"""Gathers paths until a burst of changes is over. Pure: the time is given."""

from __future__ import annotations

from collections.abc import Iterable

QUIET_SECONDS = 0.2
MOST_SECONDS = 1.0
# More paths than these are named by their folders, and by the vault where those are as many.
MOST_PATHS = 1000


class Debounce:
    """Changed paths, due once it was quiet, or once the first has waited long enough."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._first = 0.0
        self._last = 0.0

    def __contains__(self, path: str) -> bool:
        return path in self._paths

    def add(self, path: str, now: float) -> None:
        """A path has changed at this time, in seconds."""
        if not self._paths:
            self._first = now
        self._paths.add(path)
        self._last = now

    def due_at(self) -> float | None:
        """When `take` will give what there is; None while there is nothing."""
        if not self._paths:
            return None
        return min(self._last + QUIET_SECONDS, self._first + MOST_SECONDS)

    def take(self, now: float) -> frozenset[str]:
        """The paths, if they are due; "" among them stands for the whole vault."""
        due = self.due_at()
        if due is None or now < due:
            return frozenset()
        paths, self._paths = self._paths, set()
        return frozenset(few(paths))


def few(paths: Iterable[str]) -> set[str]:
    """The same places in at most `MOST_PATHS` names: folders, or the vault, for many notes."""
    named = set(paths)
    if len(named) > MOST_PATHS:
        named = {path.rpartition("/")[0] for path in named}
    return named if len(named) <= MOST_PATHS else {""}
