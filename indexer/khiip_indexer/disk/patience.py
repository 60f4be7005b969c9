"""Reads and looks that may hang, with an end to the waiting: a drive can block for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")

# As many reads may hang at once before no other is tried: each holds a thread.
MOST_HANGING = 64
_LEAST_SECONDS = 0.1
_IDLE_SECONDS = 5.0


class GaveUp(Exception):
    """The step had not ended when patience did; it may still be going on."""


class _Call(Generic[T]):
    def __init__(self, name: str, step: Callable[[], T]) -> None:
        self.name = name
        self.given_up = False
        self.ended = threading.Event()
        self._step = step
        self._result: T
        self._error: BaseException | None = None

    def make(self) -> None:
        try:
            self._result = self._step()
        except BaseException as error:  # noqa: BLE001 -- raised again where the result is wanted
            self._error = error
        self.ended.set()

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._result


_Hand = SimpleQueue[_Call[object] | None]


class Patience:
    """Runs steps in threads of its own, and leaves a thread to itself when its step hangs.

    The threads are daemons: the program ends whether or not they do. What hangs under a name is
    not tried again under it until it has ended.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._idle: list[_Hand] = []
        self._hanging: set[str] = set()

    @property
    def hanging(self) -> int:
        """How many steps were given up and have not ended since."""
        return len(self._hanging)

    def run(
        self,
        name: str,
        step: Callable[[], T],
        seconds: float,
        seen: Callable[[], int] | None = None,
    ) -> T:
        """The step's result or error; GaveUp after `seconds`, sooner while others hang.

        Of a step of many parts `seen` tells how many are done: while more are each time, it is
        waited for.
        """
        call: _Call[T] = _Call(name, step)
        with self._guard:
            if name in self._hanging or len(self._hanging) >= MOST_HANGING:
                raise GaveUp
            # Sixty files on one dead drive must not cost sixty times the patience.
            seconds = max(_LEAST_SECONDS, seconds / (1 + len(self._hanging)))
            hand = self._idle.pop() if self._idle else self._new_hand()
        hand.put(call)  # type: ignore[arg-type]
        if not _ended(call.ended, seconds, seen):
            with self._guard:
                if not call.ended.is_set():
                    call.given_up = True
                    self._hanging.add(name)
                    raise GaveUp
        return call.result()

    def _new_hand(self) -> _Hand:
        hand: _Hand = SimpleQueue()
        threading.Thread(target=self._serve, args=(hand,), name="khiip-read", daemon=True).start()
        return hand

    def close(self) -> None:
        """Let the threads go that have nothing to do."""
        with self._guard:
            for hand in self._idle:
                hand.put(None)
            self._idle.clear()

    def _serve(self, hand: _Hand) -> None:
        while (call := self._next(hand)) is not None:
            call.make()
            with self._guard:
                if call.given_up:
                    self._hanging.discard(call.name)
                self._idle.append(hand)
            del call  # what it read is as large as a note

    def _next(self, hand: _Hand) -> _Call[object] | None:
        try:
            return hand.get(timeout=_IDLE_SECONDS)
        except Empty:
            with self._guard:
                if hand in self._idle:
                    self._idle.remove(hand)
                    return None
            return hand.get()  # it was given out at this very moment


def _ended(ended: threading.Event, seconds: float, seen: Callable[[], int] | None) -> bool:
    before = 0
    while not ended.wait(seconds):
        now = seen() if seen is not None else 0
        if now == before:
            return False
        before = now
    return True
