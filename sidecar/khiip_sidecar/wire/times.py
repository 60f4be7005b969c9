"""Points in time as people write them in a filter; pure."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta

from khiip_indexer.errors import UsageError

_CALENDAR = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?", re.ASCII)
# No longer back than there are years: what matches is always a time.
AGE_PATTERN = "^(?:[0-9]{1,5} ?[dDwW]|[0-9]{1,4} ?[mM]|[0-9]{1,3} ?[yY])$"
CALENDAR_PATTERN = "^(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])(?:-(?:0[1-9]|1[0-2]))?$"
_AGO = re.compile(AGE_PATTERN)
_LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
_LEAP = re.compile(r"([T ][0-9]{2}:[0-9]{2}):60", re.ASCII)
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"m": 1, "y": 12}


def time_bound(name: str, text: str, now: datetime, *, end: bool) -> str:
    """A bound in RFC 3339 UTC, seconds: a year, month or day (its start, or with `end` the start
    of the next one), an RFC 3339 time, or an age such as `7d`, `2w`, `3m`, `1y` before `now`.

    Times without an offset are UTC.
    """
    try:
        bound = _bound(text.strip(), now, end).replace(microsecond=0, tzinfo=None)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"`{name}` is not a time.",
            hint="Write 2025, 2025-01, 2025-01-31, 2025-01-31T09:30:00Z, or an age: 7d, 2w, 3m.",
        ) from error
    return f"{bound.isoformat()}Z"


def _bound(text: str, now: datetime, end: bool) -> datetime:
    if _AGO.fullmatch(text):
        return _before(now, int(text[:-1]), text[-1].lower())
    if match := _CALENDAR.fullmatch(text):
        return _calendar(int(match[1]), match[2], match[3], end)
    # RFC 3339 allows small letters, and a leap second.
    moment = datetime.fromisoformat(_LEAP.sub(r"\g<1>:59", text.upper()))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _before(now: datetime, count: int, unit: str) -> datetime:
    if unit in _DAYS:
        return now - timedelta(days=count * _DAYS[unit])
    return _months_later(now, -count * _MONTHS[unit])


def _calendar(year: int, month: str | None, day: str | None, end: bool) -> datetime:
    start = datetime(year, int(month or 1), int(day or 1), tzinfo=UTC)
    if not end:
        return start
    if day:
        return start + timedelta(days=1) if start.date() < _LAST.date() else _LAST
    return _months_later(start, 1 if month else 12) if year < 9999 else _LAST


def _months_later(moment: datetime, months: int) -> datetime:
    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise ValueError("the year is out of range")
    last_day = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last_day))
