"""Answers that are made of the vectors of one model, also while another takes over."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_MOST = 3


def steadily(model: Callable[[], object], work: Callable[[], T]) -> T:
    """What `work` gives while `model()` stays the same; it is done again when that changed.

    A question embedded by one model just before the switch would meet vectors of the other just
    after it. Switches are rare: a third attempt is taken as it is.
    """
    for _ in range(_MOST - 1):
        before = model()
        try:
            answer = work()
        except Exception:
            if model() == before:
                raise
            continue
        if model() == before:
            return answer
    return work()
