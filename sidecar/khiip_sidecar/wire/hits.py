"""Hits as they go over the wire; pure.

Fields are append-only: a client may rely on the order and on every name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from khiip_sidecar.results import Explanation, RecalledHit
from khiip_sidecar.wire.encode import Json
from khiip_sidecar.wire.views import lean_row

if TYPE_CHECKING:
    from khiip_indexer.lexical.passages import PassageHit


def lean_hit(hit: RecalledHit, excerpt_chars: int) -> Json:
    """A lean row with its score."""
    return lean_row(hit.record, excerpt_chars) | _told(hit)


def full_hit(capture: Json, hit: RecalledHit) -> Json:
    """A full capture beside its score."""
    return {"capture": capture} | _told(hit)


def _told(hit: RecalledHit) -> Json:
    """The score, and what was asked for about the hit.

    `weak` is there only where it is true: the score is what unrelated texts reach too.
    """
    told: Json = {"score": hit.score}
    if hit.weak:
        told["weak"] = True
    if hit.explanation is not None:
        told |= explanation_view(hit.explanation)
    if hit.passage is not None:
        told["passage"] = passage_view(hit.passage)
    return told


def explanation_view(explanation: Explanation) -> Json:
    """Why a hit is where it is; the weighted sum of the parts is the composite."""
    return {
        "composite": explanation.breakdown.composite,
        "match_reasons": list(explanation.reasons),
        "score_breakdown": explanation.breakdown.as_dict(),
    }


def passage_view(passage: PassageHit) -> Json:
    """Where a hit matches; `ranges` are [start, end) in code points of `text`."""
    return {
        "text": passage.text,
        "heading": passage.heading,
        "line": passage.line,
        "score": passage.score,
        "ranges": [list(each) for each in passage.ranges],
    }
