"""Dates as people and tools write them -> aware UTC; pure, never raises on any text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

_MAX_CHARS = 100
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ),
        start=1,
    )
    for name in names.split()
}
_WEEKDAY = re.compile(
    r"^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[.,]?\s*", re.IGNORECASE
)
_LAST_WEEKDAY = re.compile(r"(?<=\d)\.? (?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}$")
# What may stand between a day and a time: `T`, `at`, a comma, a dash.
_BETWEEN = re.compile(r"(?:(?<=\d)t|(?<=\s)at|[\s,\u2013\u2014-])+$")
# `Mon Jan 12 10:00:00 2026 +0100`: the C library and git put the year behind the time.
_YEAR_BEHIND = re.compile(r"(\d{4})(?=\s|$)(.*)$")
_TIME = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?(?P<zone>.*)$",
    re.IGNORECASE,
)
_OFFSET = re.compile(r"(?P<sign>[+\-\u2212])(?P<hours>\d{1,2}):?(?P<minutes>\d{2})?(?!\d)")
_YEAR_FIRST = re.compile(r"(\d{4})([-/._])(\d{1,2})(?:\2(\d{1,2}))?$")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})$")
_MONTH_DAY_YEAR = re.compile(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)? (\d{4})$")
_DAY_MONTH_YEAR = re.compile(r"(\d{1,2})(?:st|nd|rd|th)? (?:of )?([a-z]{3,9})\.? (\d{4})$")
_MONTH_YEAR = re.compile(r"([a-z]{3,9})\.? (\d{4})$")
_EAST_ASIAN = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월](?:\s*(\d{1,2})\s*[日일])?$")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})?)?(Z|[+-]\d{2}:?\d{2})?$")

_Day = tuple[int, int, int]


@lru_cache(maxsize=256)  # a note's dates are asked for twice, and many notes are of one day
def parse_date(text: str) -> datetime | None:
    """Read one date, with or without a time, as an aware UTC datetime; None when it is none.

    A time without a zone is UTC, and so is one with a zone's name other than UTC, GMT or Z. A
    year or a month alone is its first day. `08/10/2025` may be two days, so it is none.
    """
    if len(text) > _MAX_CHARS:
        return None
    cleaned = " ".join(text.replace("[[", " ").replace("]]", " ").strip(" \"'<>").split())
    cleaned = cleaned.partition("|")[0].strip()
    try:
        return _digits(cleaned) or _written(cleaned)
    except (ValueError, OverflowError, OSError):
        return None  # a 13th month, a 25th hour, the year 0: written like a date, but no day


def rfc3339(moment: datetime) -> str:
    """An aware datetime as RFC 3339 in UTC with `Z`; microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _digits(text: str) -> datetime | None:
    """`2026`, `20260103`, `20260103T101500Z`, and seconds to microseconds since 1970."""
    if text.isdecimal() and len(text) == 4:
        return datetime(int(text), 1, 1, tzinfo=UTC)
    whole, _, fraction = text.partition(".")
    if whole.isdecimal() and len(whole) in (10, 13, 16) and (fraction or "0").isdecimal():
        return _since_1970(int(whole), len(whole))
    match = _COMPACT.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    zone = _zone(match[7] or "")
    return datetime(year, month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)


def _since_1970(count: int, digits: int) -> datetime:
    unit = {10: timedelta(seconds=1), 13: timedelta(milliseconds=1)}
    return datetime(1970, 1, 1, tzinfo=UTC) + count * unit.get(digits, timedelta(microseconds=1))


def _written(text: str) -> datetime | None:
    """A day in figures or words, then perhaps a time and a zone."""
    time = _TIME.search(text)
    day_text, zone = (text[: time.start()], time["zone"]) if time else (text, "")
    if time and (behind := _YEAR_BEHIND.match(zone)):
        day_text, zone = f"{day_text} {behind[1]}", behind[2]
    day = _day(day_text)
    if day is None:
        return None
    if time is None:
        return datetime(*day, tzinfo=UTC)
    hour = _hour(int(time["hour"]), (time["half"] or "").lower())
    micros = int((time["fraction"] or "0").ljust(6, "0")[:6])
    clock = (hour, int(time["minute"]), int(time["second"] or 0), micros)
    return datetime(*day, *clock, tzinfo=_zone(zone)).astimezone(UTC)


def _hour(hour: int, half: str) -> int:
    if not half:
        return hour
    if not 1 <= hour <= 12:
        raise ValueError("no such hour on a 12-hour clock")
    return hour % 12 + (12 if half.startswith("p") else 0)


def _zone(text: str) -> timezone:
    match = _OFFSET.search(text)
    if match is None:
        return UTC
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
    return timezone(offset if match["sign"] == "+" else -offset)


def _day(text: str) -> _Day | None:
    text = _BETWEEN.sub("", text.strip().lower())
    text = _LAST_WEEKDAY.sub("", _WEEKDAY.sub("", text)).strip(" ,")
    return _day_in_figures(text) or _day_in_words(" ".join(text.replace(",", " ").split()))


def _day_in_figures(text: str) -> _Day | None:
    if match := _YEAR_FIRST.match(text):
        return int(match[1]), int(match[3]), int(match[4] or 1)
    if match := _EAST_ASIAN.match(text):
        return int(match[1]), int(match[2]), int(match[3] or 1)
    if match := _YEAR_LAST.match(text):
        return _by_locale(int(match[1]), int(match[3]), int(match[4]), dotted=match[2] == ".")
    return None


def _by_locale(first: int, second: int, year: int, *, dotted: bool) -> _Day | None:
    """Day and month in the order that is possible; dots are only written day first."""
    if dotted or first > 12 or first == second:
        return year, second, first
    return (year, first, second) if second > 12 else None


def _day_in_words(text: str) -> _Day | None:
    if match := _MONTH_DAY_YEAR.match(text):
        return _named(match[1], int(match[2]), int(match[3]))
    if match := _DAY_MONTH_YEAR.match(text):
        return _named(match[2], int(match[1]), int(match[3]))
    if match := _MONTH_YEAR.match(text):
        return _named(match[1], 1, int(match[2]))
    return None


def _named(month: str, day: int, year: int) -> _Day | None:
    number = _MONTHS.get(month)
    return (year, number, day) if number else None
