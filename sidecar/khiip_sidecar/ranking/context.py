"""Turns of a conversation are read together: what stands beside a good hit may be the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from khiip_indexer.storage.threads import Threads
from khiip_sidecar.ranking.fusion import Signals, fused, is_weak

# A neighbour's relevance counts as much as a turn's own, and never lifts it above the neighbour.
NEIGHBOUR_PART = 0.5


def with_context(
    signals: Mapping[int, Signals], threads: Threads, words_weight: float, floor: float
) -> dict[int, Signals]:
    """The same signals with what each capture gains from those it is read with.

    `signals` hold an entry, be it an empty one, for every capture that may gain. Below `floor` a
    cosine is no better than chance, and lifts nobody.
    """
    own = {row: fused(each, words_weight) for row, each in signals.items()}
    good = {row: own[row] for row, each in signals.items() if not is_weak(each, floor)}
    lifted = {}
    for row, each in signals.items():
        beside = max((good.get(other, 0.0) for other in threads.around(row)), default=0.0)
        value = (1 - NEIGHBOUR_PART) * own[row] + NEIGHBOUR_PART * beside
        lifted[row] = replace(each, context=value) if beside > own[row] else each
    return lifted
