"""Momentum: every step of its three parts by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_sidecar.memory.constants import DAY, WEEK
from khiip_sidecar.memory.momentum import (
    Pulses,
    momenta,
    momentum_band,
    relative_volume,
    velocity,
)

NOW = 1_782_820_800.0


def pulse(day: int, week: int, total: int, first_days_ago: float, quality: float) -> Pulses:
    return Pulses(
        np.array([day]),
        np.array([week]),
        np.array([total]),
        np.array([NOW - first_days_ago * DAY]),
        np.array([quality]),
    )


@pytest.mark.parametrize(
    ("day", "week", "points"),
    [
        (0, 0, 0),
        (0, 1, 2),
        (0, 2, 2),
        (0, 3, 4),
        (0, 99, 4),
        (1, 1, 7),
        (2, 99, 7),
        (3, 3, 10),
        (50, 50, 10),
    ],
)
def test_velocity(day: int, week: int, points: float) -> None:
    assert velocity(np.array([day]), np.array([week])).tolist() == [points]


@pytest.mark.parametrize(
    ("week", "total", "weeks", "points"),
    [
        # first activity: nothing is older than 7 days
        (1, 1, 0.1, 5),
        (9, 9, 0.99, 5),
        # 10 weeks, 10 events: one a week on average
        (3, 10, 10, 10),
        (2, 10, 10, 7),
        (1, 10, 10, 4),
        # 10 weeks, 20 events: two a week; one is half of that
        (1, 20, 10, 2),
        (5, 20, 10, 7),
        (6, 20, 10, 10),
        # one event in four weeks of 16 events: a quarter of four a week, a quarter of 4 points
        (1, 16, 4, 1),
        # nothing this week
        (0, 20, 10, 0),
        # the first event is exactly a week old: there is a past, and one week of it
        (1, 2, 1, 2),
        (2, 2, 1, 4),
    ],
)
def test_relative_volume(week: int, total: int, weeks: float, points: float) -> None:
    found = relative_volume(pulse(0, week, total, weeks * 7, 0.0), NOW)
    assert found.tolist() == [pytest.approx(points)]


def test_momentum_by_hand() -> None:
    # 0.4 * 3 + 0.3 * 10 + 0.3 * 5: three notes of today, the first ones about it
    assert momenta(pulse(3, 3, 3, 0.5, 0.3), NOW).tolist() == [5.7]
    # 0.4 * 9 + 0.3 * 10 + 0.3 * 10
    assert momenta(pulse(3, 6, 20, 70, 0.9), NOW).tolist() == [9.6]
    # 0.4 * 3 + 0.3 * 2 + 0.3 * 2
    assert momenta(pulse(0, 1, 20, 70, 0.3), NOW).tolist() == [2.4]
    assert momenta(pulse(9, 9, 9, 0.1, 1.0), NOW).tolist() == [8.5]
    assert momenta(pulse(3, 30, 30, 70, 1.0), NOW).tolist() == [10.0]


def test_what_was_left_alone_for_a_week_has_no_momentum() -> None:
    assert momenta(pulse(0, 0, 500, 400, 0.9), NOW).tolist() == [0.0]


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (10.0, "surging"),
        (7.0, "surging"),
        (6.9999, "active"),
        (4.0, "active"),
        (3.9999, "quiet"),
        (1.5, "quiet"),
        (1.4999, "dormant"),
        (0.0, "dormant"),
    ],
)
def test_the_bounds_of_the_bands(value: float, band: str) -> None:
    assert momentum_band(value) == band


counts = st.integers(0, 10**6)


@given(counts, counts, counts, st.floats(-1e9, 1e9), st.floats(0, 1))
def test_momentum_stays_between_0_and_10_whatever_is_counted(
    day: int, week: int, total: int, ago: float, quality: float
) -> None:
    (value,) = momenta(pulse(day, week, total, ago / DAY, quality), NOW).tolist()
    assert 0 <= value <= 10


@given(st.lists(st.tuples(counts, counts, counts, st.floats(0, 500 * WEEK), st.floats(0, 1))))
def test_entities_do_not_touch_each_other(
    entities: list[tuple[int, int, int, float, float]],
) -> None:
    columns = list(zip(*entities, strict=True)) or [(), (), (), (), ()]
    day, week, total = (np.array(column, np.int64) for column in columns[:3])
    ago, quality = (np.array(column, np.float64) for column in columns[3:])
    together = momenta(Pulses(day, week, total, NOW - ago, quality), NOW)
    alone = [
        momenta(pulse(one[0], one[1], one[2], one[3] / DAY, one[4]), NOW)[0] for one in entities
    ]
    assert together.tolist() == pytest.approx(alone, abs=2e-4)
