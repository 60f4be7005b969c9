"""Points in time as people write them in a filter."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.errors import UsageError
from khiip_sidecar.wire.times import PATTERNS, time_bound

NOW = datetime(2026, 3, 31, 12, 30, 5, 999, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2025", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2025-02", "2025-02-01T00:00:00Z", "2025-03-01T00:00:00Z"),
        ("2025-12", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2024-02-28", "2024-02-28T00:00:00Z", "2024-02-29T00:00:00Z"),
        ("2025-01-31T09:30:00Z", "2025-01-31T09:30:00Z", "2025-01-31T09:30:00Z"),
        ("2025-01-31T09:30:00+02:00", "2025-01-31T07:30:00Z", "2025-01-31T07:30:00Z"),
        ("2025-01-31 09:30", "2025-01-31T09:30:00Z", "2025-01-31T09:30:00Z"),
        ("7d", "2026-03-24T12:30:05Z", "2026-03-24T12:30:05Z"),
        ("2w", "2026-03-17T12:30:05Z", "2026-03-17T12:30:05Z"),
        ("1m", "2026-02-28T12:30:05Z", "2026-02-28T12:30:05Z"),
        ("3M", "2025-12-31T12:30:05Z", "2025-12-31T12:30:05Z"),
        ("1y", "2025-03-31T12:30:05Z", "2025-03-31T12:30:05Z"),
        ("7D ago", "2026-03-24T12:30:05Z", "2026-03-24T12:30:05Z"),
        ("36h", "2026-03-30T00:30:05Z", "2026-03-30T00:30:05Z"),
        ("1 hour ago", "2026-03-31T11:30:05Z", "2026-03-31T11:30:05Z"),
        ("2 weeks", "2026-03-17T12:30:05Z", "2026-03-17T12:30:05Z"),
        ("3 months ago", "2025-12-31T12:30:05Z", "2025-12-31T12:30:05Z"),
        ("1yr", "2025-03-31T12:30:05Z", "2025-03-31T12:30:05Z"),
        ("now", "2026-03-31T12:30:05Z", "2026-03-31T12:30:05Z"),
        ("today", "2026-03-31T00:00:00Z", "2026-04-01T00:00:00Z"),
        ("Yesterday", "2026-03-30T00:00:00Z", "2026-03-31T00:00:00Z"),
        ("this week", "2026-03-30T00:00:00Z", "2026-04-06T00:00:00Z"),
        ("last week", "2026-03-23T00:00:00Z", "2026-03-30T00:00:00Z"),
        ("this month", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"),
        ("last-month", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("this_quarter", "2026-01-01T00:00:00Z", "2026-04-01T00:00:00Z"),
        ("last quarter", "2025-10-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("last year", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2025-W03", "2025-01-13T00:00:00Z", "2025-01-20T00:00:00Z"),
        ("2020-w53", "2020-12-28T00:00:00Z", "2021-01-04T00:00:00Z"),
        ("2025-Q4", "2025-10-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("20250131", "2025-01-31T00:00:00Z", "2025-02-01T00:00:00Z"),
        ("2025w03", "2025-01-13T00:00:00Z", "2025-01-20T00:00:00Z"),
        ("2025-W03-2", "2025-01-14T00:00:00Z", "2025-01-15T00:00:00Z"),
        ("2025W032", "2025-01-14T00:00:00Z", "2025-01-15T00:00:00Z"),
        ("99991231", "9999-12-31T00:00:00Z", "9999-12-31T23:59:59Z"),
        ("2025Q4", "2025-10-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2025-01-31T09:30:00 02:00", "2025-01-31T07:30:00Z", "2025-01-31T07:30:00Z"),
        (" 0d ", "2026-03-31T12:30:05Z", "2026-03-31T12:30:05Z"),
    ],
)
def test_a_bound_is_a_start_or_the_end_of_what_was_named(text: str, since: str, until: str) -> None:
    assert time_bound("since", text, NOW, end=False) == since
    assert time_bound("until", text, NOW, end=True) == until


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2025-13",
        "2025-02-30",
        "0000",
        "99999y",
        "7",
        "-7d",
        "7d hence",
        "٢٠٢٥",
        "2025-W54",
        "2025-W53",
        "2025-W00",
        "2025-Q5",
        "tomorrow",
        "last",
        "last day",
        "7 parsecs",
    ],
)
def test_what_is_no_time_is_an_error_that_shows_how_to_write_one(text: str) -> None:
    with pytest.raises(UsageError, match="`since` is not a time") as caught:
        time_bound("since", text, NOW, end=False)
    for form in ("7d", "2025-01", "2025-W03", "last month", "3 months ago"):
        assert form in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["9999", "9999-12", "9999-12-31", "9999-W52", "9999-Q4"])
def test_the_end_of_the_last_year_there_is_is_its_last_second(text: str) -> None:
    assert time_bound("until", text, NOW, end=True) == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("2025-01-31t09:30:00z", "2025-01-31T09:30:00Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
        ("2025-01-31T09:30:00.123456789+01:00", "2025-01-31T08:30:00Z"),
    ],
)
def test_every_form_of_rfc_3339_is_a_time(text: str, bound: str) -> None:
    assert time_bound("since", text, NOW, end=False) == bound


def test_the_first_and_the_last_day_of_time_have_neighbours() -> None:
    last = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
    assert time_bound("until", "this week", last, end=True) == "9999-12-31T23:59:59Z"
    assert time_bound("until", "today", last, end=True) == "9999-12-31T23:59:59Z"


@given(st.one_of(*(st.from_regex(pattern, fullmatch=True) for pattern in PATTERNS)))
def test_what_the_description_calls_a_time_is_one(text: str) -> None:
    for end in (False, True):
        assert time_bound("until", text, NOW, end=end)


@given(st.text(max_size=40), st.booleans())
def test_any_text_gives_a_time_or_a_usage_error(text: str, end: bool) -> None:
    try:
        bound = time_bound("until", text, NOW, end=end)
    except UsageError:
        return
    assert datetime.fromisoformat(bound).tzinfo is not None
    assert len(bound) == len("2025-01-01T00:00:00Z")
