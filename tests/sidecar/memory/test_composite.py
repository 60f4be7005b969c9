"""The composite: its parts re-compute it, and every reason is given only where it is true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_sidecar.memory.composite import Breakdown, composite, composites, memory_reasons
from khiip_sidecar.memory.heat import Heat

HOT, WARM, COLD = Heat(0.9, "hot"), Heat(0.5, "warm"), Heat(0.3, "cold")
LIFTED = Heat(0.4, "warm", lifted=True)
parts = st.floats(0, 1)


def test_composite_by_hand() -> None:
    found = composite(0.8, 0.6, 5.0, 0.3)
    assert found.as_dict() == {"relevance": 0.8, "heat": 0.6, "momentum": 0.5, "importance": 0.3}
    # 0.36 + 0.15 + 0.075 + 0.045
    assert found.composite == 0.63
    assert composite(1, 1, 10, 1).composite == 1.0
    assert composite(0, 0, 0, 0).composite == 0.0
    assert composite(0.5, 0, 0, 0).composite == 0.225


@given(parts, parts, st.floats(0, 10), parts)
def test_the_parts_re_compute_the_composite(
    relevance: float, heat: float, momentum: float, importance: float
) -> None:
    found = composite(relevance, heat, momentum, importance)
    shown = found.as_dict()
    again = (
        0.45 * shown["relevance"]
        + 0.25 * shown["heat"]
        + 0.15 * shown["momentum"]
        + 0.15 * shown["importance"]
    )
    assert abs(again - found.composite) <= 1e-4
    assert all(0 <= part <= 1 and round(part, 4) == part for part in shown.values())
    assert abs(shown["relevance"] - relevance) <= 5.1e-5
    assert abs(shown["momentum"] - momentum / 10) <= 5.1e-5


odd = st.floats(allow_nan=True, allow_infinity=True)


@given(odd, odd, odd, odd)
def test_no_odd_number_gets_through(a: float, b: float, c: float, d: float) -> None:
    found = composite(a, b, c, d)
    assert all(0 <= part <= 1 for part in found.as_dict().values())
    assert 0 <= found.composite <= 1


def test_what_is_no_number_counts_as_nothing() -> None:
    assert composite(math.nan, math.inf, -1, 2) == Breakdown(0.0, 1.0, 0.0, 1.0)


@given(st.lists(st.tuples(odd, odd, odd, odd)))
def test_many_hits_are_weighed_as_each_of_them(hits: list[tuple[float, ...]]) -> None:
    columns = np.array(hits, dtype=np.float64).reshape(len(hits), 4).T
    together = composites(*columns)
    assert together.tolist() == [composite(*hit).composite for hit in hits]


@pytest.mark.parametrize(
    ("heat", "momentum", "importance", "layer", "pinned", "reasons"),
    [
        (COLD, 0.0, 0.3, None, False, ()),
        (HOT, 0.0, 0.3, None, False, ("heat:hot",)),
        (WARM, 0.0, 0.3, None, False, ("heat:warm",)),
        (COLD, 3.9999, 0.3, None, False, ()),
        (COLD, 4.0, 0.3, None, False, ("entity_active",)),
        (COLD, 9.0, 0.3, None, False, ("entity_active",)),
        (COLD, 0.0, 0.7999, None, False, ()),
        (COLD, 0.0, 0.8, None, False, ("high_importance",)),
        (COLD, 0.0, 0.9, None, False, ("pinned", "high_importance")),
        (LIFTED, 0.0, 0.3, None, True, ("heat:warm", "pinned")),
        (LIFTED, 0.0, 0.3, "caveat", False, ("heat:warm", "caveat_protected")),
        (WARM, 0.0, 0.3, "caveat", False, ("heat:warm",)),
    ],
)
def test_reasons(
    heat: Heat,
    momentum: float,
    importance: float,
    layer: str | None,
    pinned: bool,
    reasons: tuple[str, ...],
) -> None:
    found = memory_reasons(heat, momentum, importance, layer=layer, pinned=pinned)
    assert found == reasons
