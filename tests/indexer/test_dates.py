"""Dates in the forms that people and tools write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.fields.dates import parse_date, rfc3339


def shown(text: str) -> str | None:
    found = parse_date(text)
    return rfc3339(found) if found else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-20", "2026-05-20T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z"),
        ("2026-05", "2026-05-01T00:00:00Z"),
        ("2026-5-2", "2026-05-02T00:00:00Z"),
        ("2026/05/20", "2026-05-20T00:00:00Z"),
        ("2026_05_20", "2026-05-20T00:00:00Z"),
        ("20260103", "2026-01-03T00:00:00Z"),
        ("202601031015", "2026-01-03T10:15:00Z"),
        ("20260103T101500Z", "2026-01-03T10:15:00Z"),
        ("20260103T101500+0100", "2026-01-03T09:15:00Z"),
        ("2026-05-20 10:11", "2026-05-20T10:11:00Z"),
        ("2026-05-20 10:11:12", "2026-05-20T10:11:12Z"),
        ("2020-08-21T10:30:00", "2020-08-21T10:30:00Z"),
        ("2025-01-15T04:00:00-08:00", "2025-01-15T12:00:00Z"),
        ("2026-05-20T10:00:00.25Z", "2026-05-20T10:00:00.250000Z"),
        ("2026-05-20T10:00:00.123456789+0530", "2026-05-20T04:30:00.123456Z"),
        ("[[2026-05-20]]", "2026-05-20T00:00:00Z"),
        ("[[2026-05-20|Wednesday]]", "2026-05-20T00:00:00Z"),
        ("[[2022-09-08]]08:01", "2022-09-08T08:01:00Z"),
        ('"2026-05-20"', "2026-05-20T00:00:00Z"),
        ("<2026-01-02 Fri>", "2026-01-02T00:00:00Z"),
        ("25/12/2025 at 1:03 PM", "2025-12-25T13:03:00Z"),
        ("12/25/2025", "2025-12-25T00:00:00Z"),
        ("08/08/2025", "2025-08-08T00:00:00Z"),
        ("03.05.2026", "2026-05-03T00:00:00Z"),
        ("April 29, 2023 3:14 PM", "2023-04-29T15:14:00Z"),
        ("2021-06-03T09:00:06 (UTC +02:00)", "2021-06-03T07:00:06Z"),
        ("2026-05-20T09:19:32 (UTC -03:00)", "2026-05-20T12:19:32Z"),
        ("Sunday, May 3rd 2026, 9:04:24 pm", "2026-05-03T21:04:24Z"),
        ("March 13, 2026 at 6:32 PM", "2026-03-13T18:32:00Z"),
        ("Jan 12, 2026, 12:00 AM", "2026-01-12T00:00:00Z"),
        ("12 March 2020", "2020-03-12T00:00:00Z"),
        ("May 2026", "2026-05-01T00:00:00Z"),
        ("Thu, 01 Jan 2026 10:00:00 +0000", "2026-01-01T10:00:00Z"),
        ("Mon Jan 12 2026 10:00:00 GMT+0100", "2026-01-12T09:00:00Z"),
        ("Mon Jan 12 2026 10:00:00 GMT+0100 (CET)", "2026-01-12T09:00:00Z"),
        ("Mon Jan 12 10:00:00 2026 +0100", "2026-01-12T09:00:00Z"),
        ("2026年1月3日", "2026-01-03T00:00:00Z"),
        ("1753000000", "2025-07-20T08:26:40Z"),
        ("1753000000.5", "2025-07-20T08:26:40Z"),
        ("1753000000123", "2025-07-20T08:26:40.123000Z"),
    ],
)
def test_a_date_is_read_as_utc(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Invalid date",
        "no",
        "12:30",
        "007",
        "0021757",
        "tomorrow",
        "{{date}}",
        "2026-13-45",
        "2026-02-30",
        "2026-05-20 25:00",
        "2026-05-20 13:00 PM",
        "0000-01-01",
        "0000",
        "9999-12-31T23:00:00-05:00",
        "2026-05-20T10:00:00+99:99",
        "Smarch 3, 2026",
        "March 3rd",
        "²²²²",
        "2026" * 60,
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize("text", ["08/10/2025 at 1:03 PM", "1/2/2026", "03-04-2026"])
def test_day_and_month_that_may_be_swapped_are_not_guessed(text: str) -> None:
    assert parse_date(text) is None


def test_rfc3339_is_utc_with_microseconds_only_where_there_are_any() -> None:
    east = timezone(timedelta(hours=2))
    assert rfc3339(datetime(2026, 1, 3, 1, tzinfo=east)) == "2026-01-02T23:00:00Z"
    assert rfc3339(datetime(2026, 1, 3, 1, 0, 0, 5, UTC)) == "2026-01-03T01:00:00.000005Z"


@given(
    st.datetimes(datetime(1000, 1, 2), datetime(9998, 12, 31), timezones=st.just(UTC)),
    st.integers(-12 * 60, 14 * 60),
)
def test_what_is_written_as_iso_is_read_back(moment: datetime, offset: int) -> None:
    local = moment.astimezone(timezone(timedelta(minutes=offset)))
    assert parse_date(local.isoformat()) == moment
    assert parse_date(rfc3339(moment)) == moment


@given(st.text(max_size=60) | st.text("0123456789-/.:T +ZamPp,[]年月日JanMayst", max_size=40))
def test_no_text_raises(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.utcoffset() == timedelta(0)
