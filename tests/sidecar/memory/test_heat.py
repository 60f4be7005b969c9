"""Heat: every bound by hand, and what people expect of notes that they leave alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_sidecar.memory.constants import DAY
from khiip_sidecar.memory.heat import (
    Heat,
    ManyReads,
    Reads,
    heat,
    heat_band,
    heats,
    strength,
    touched,
)

NOW = 1_782_820_800.0


def after(
    days: float,
    *,
    count: int = 0,
    importance: float = 0.3,
    layer: str | None = None,
    pinned: bool = False,
) -> Heat:
    """The heat of a note that was last touched so many days ago."""
    then = NOW - days * DAY
    reads = Reads(recorded=then, count=count, last=then if count else None)
    return heat(reads, NOW, importance, layer=layer, pinned=pinned)


def test_strength_by_hand() -> None:
    assert strength(0, 0.0) == 30
    assert strength(0, 0.3) == pytest.approx(39)
    assert strength(0, 1.0) == 60
    assert strength(1, 0.0) == pytest.approx(30 * (1 + 0.5 * 0.693147), rel=1e-6)
    assert strength(10, 0.3) == pytest.approx(39 * (1 + 0.5 * 2.397895), rel=1e-6)


def test_heat_by_hand() -> None:
    assert after(0).value == 1.0
    assert after(39).value == 0.3679  # 1/e
    assert after(30, importance=0.0).value == 0.3679
    assert after(60, importance=1.0, pinned=False).value == 0.4  # pinned by its importance
    assert after(13).value == 0.7165


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (1.0, "hot"),
        (0.70, "hot"),
        (0.6999, "warm"),
        (0.40, "warm"),
        (0.3999, "cold"),
        (0.20, "cold"),
        (0.1999, "frozen"),
        (0.0, "frozen"),
    ],
)
def test_the_bounds_of_the_bands(value: float, band: str) -> None:
    assert heat_band(value) == band


@pytest.mark.parametrize(
    ("days", "band"),
    [(0, "hot"), (13, "hot"), (14, "warm"), (35, "warm"), (36, "cold"), (62, "cold")],
)
def test_a_note_never_read_again_cools_as_one_forgets(days: int, band: str) -> None:
    assert after(days).band == band


def test_a_note_left_alone_for_months_is_frozen() -> None:
    assert after(63).band == "frozen"
    assert after(100_000) == Heat(0.0, "frozen")


def test_a_note_read_ten_times_stays_hot_for_weeks() -> None:
    assert after(30, count=10).band == "hot"
    assert after(31, count=10).band == "warm"


def test_the_last_access_counts_and_not_the_edit_once_there_was_one() -> None:
    read = Reads(recorded=NOW - 90 * DAY, edited=NOW - DAY, count=1, last=NOW - 30 * DAY)
    assert touched(read, NOW) == NOW - 30 * DAY


def test_a_note_never_read_is_as_warm_as_its_last_edit_or_its_record() -> None:
    recorded, edited = NOW - 90 * DAY, NOW - 3 * DAY
    assert touched(Reads(recorded, edited), NOW) == edited
    assert touched(Reads(edited, recorded), NOW) == edited
    assert touched(Reads(recorded), NOW) == recorded


def test_a_date_in_the_future_is_now_and_never_hotter_than_hot() -> None:
    ahead = NOW + 400 * DAY
    assert touched(Reads(ahead), NOW) == NOW
    assert touched(Reads(NOW - DAY, ahead), NOW) == NOW
    assert touched(Reads(NOW - DAY, None, 3, ahead), NOW) == NOW
    assert after(-400).value == 1.0


def test_caveats_and_pinned_notes_never_fall_below_warm() -> None:
    lifted = Heat(0.4, "warm", lifted=True)
    assert after(1000, layer="caveat") == lifted
    assert after(1000, pinned=True) == lifted
    assert after(1000, importance=0.9) == lifted
    assert after(1000, importance=0.8999).band == "frozen"
    assert after(1000, layer="goal").band == "frozen"


def test_protection_changes_nothing_while_a_note_is_warm() -> None:
    assert after(1, layer="caveat") == after(1)
    # exp(-35.73 / 39) rounds to 0.4001, exp(-35.75 / 39) to 0.3999.
    assert after(35.73, layer="caveat") == Heat(0.4001, "warm")
    assert after(35.75, layer="caveat") == Heat(0.4, "warm", lifted=True)


moments = st.floats(NOW - 5000 * DAY, NOW + 500 * DAY)


@given(
    st.lists(
        st.tuples(moments, moments, st.integers(0, 10_000), moments, st.floats(0, 1), st.booleans())
    )
)
def test_many_notes_are_as_warm_as_each_of_them(
    notes: list[tuple[float, float, int, float, float, bool]],
) -> None:
    one_by_one = [
        heat(Reads(recorded, edited, count, last), NOW, importance, layer=None, pinned=pinned).value
        for recorded, edited, count, last, importance, pinned in notes
    ]
    columns = list(zip(*notes, strict=True)) or [(), (), (), (), (), ()]
    recorded, edited, count, last, importance, pinned = map(np.array, columns)
    many = ManyReads(recorded, edited, count.astype(np.int64), last)
    protected = pinned.astype(bool) | (importance >= 0.9)
    together = heats(many, NOW, importance, protected)
    assert together.tolist() == one_by_one


@given(st.floats(0, 1e6), st.integers(0, 10**9), st.floats(0, 1))
def test_heat_is_between_nothing_and_all(days: float, count: int, importance: float) -> None:
    value = after(days, count=count, importance=importance).value
    assert 0 <= value <= 1
    assert not math.isnan(value)
    assert after(days + 1, count=count, importance=importance).value <= value
