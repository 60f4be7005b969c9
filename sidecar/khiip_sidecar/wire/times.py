"""Points in time as people write them in a filter; pure."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta

from khiip_indexer.errors import UsageError

FORMS = (
    "2025, 2025-01, 2025-W03, 2025-Q1, 2025-01-31, 2025-01-31T09:30:00Z, today, yesterday, "
    "this week, last month, or an age: 36h, 7d, 2 weeks, 3 months ago"
)


def _any_case(words: str) -> str:
    """A pattern of some words, `|` between them, in any case; JSON Schema has no flag for it."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in words)


_UNITS = {
    "hours": _any_case("h(?:(?:ou)?rs?)?"),
    "days": _any_case("d(?:ays?)?"),
    "weeks": _any_case("w(?:(?:ee)?ks?)?"),
    "months": _any_case("m(?:o(?:nths?)?)?"),
    "years": _any_case("y(?:(?:ea)?rs?)?"),
}
_DIGITS = {"months": 4, "years": 3}  # no longer back than there are years
_AGO = rf"(?: {_any_case('ago')})?"
AGE_PATTERN = (
    "^(?:"
    + "|".join(f"[0-9]{{1,{_DIGITS.get(unit, 5)}}} ?{names}" for unit, names in _UNITS.items())
    + f"){_AGO}$"
)
_YEAR = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_WEEK = "[wW](?:0[1-9]|[1-4][0-9]|5[0-2])"
CALENDAR_PATTERN = f"^{_YEAR}(?:-(?:0[1-9]|1[0-2])|-?(?:{_WEEK}|[qQ][1-4]))?$"
WORD_PATTERN = (
    f"^(?:{_any_case('now|today|yesterday')}"
    f"|(?:{_any_case('this|last')})[ _-](?:{_any_case('week|month|quarter|year')}))$"
)
PATTERNS = (CALENDAR_PATTERN, AGE_PATTERN, WORD_PATTERN)

_NAMED_UNITS = "|".join(f"(?P<{unit}>{names})" for unit, names in _UNITS.items())
_AGE = re.compile(rf"([0-9]{{1,5}}) ?(?:{_NAMED_UNITS}){_AGO}")
_CALENDAR = re.compile(
    r"([0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?"
    r"|-?[wW](?P<week>[0-9]{2})|-?[qQ](?P<quarter>[1-4]))?",
    re.ASCII,
)
# ISO 8601's other ways to write a day.
_DAY = re.compile(r"[0-9]{8}|[0-9]{4}-?[wW][0-9]{2}-?[1-7]", re.ASCII)
_WORDS = re.compile(WORD_PATTERN)
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
_LEAP = re.compile(r"([T ][0-9]{2}:[0-9]{2}):60", re.ASCII)
# A `+` that was sent in an address as it stands arrives as a blank.
_LOST_PLUS = re.compile(r"(:[0-9]{2}(?:\.[0-9]+)?) (?=[01][0-9]:[0-5][0-9]$)", re.ASCII)


def time_bound(name: str, text: str, now: datetime, *, end: bool) -> str:
    """A bound in RFC 3339 UTC, seconds: the start of a stretch of time that is named, or with
    `end` the start of the next one; an RFC 3339 time; an age before `now`.

    Stretches are years, quarters, months, ISO weeks and days, by number or as `last week`. Times
    without an offset, and days, are UTC. Raises UsageError.
    """
    try:
        bound = _bound(text.strip(), now, end).replace(microsecond=0, tzinfo=None)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"`{name}` is not a time.", hint=f"Write {FORMS}.") from error
    return f"{bound.isoformat()}Z"


def _bound(text: str, now: datetime, end: bool) -> datetime:
    if match := _AGE.fullmatch(text):
        return _before(now, int(match[1]), str(match.lastgroup))
    if match := _CALENDAR.fullmatch(text):
        return _edge(*_named(match), end=end)
    if _WORDS.fullmatch(text):
        return _spoken(text.lower().replace("_", " ").replace("-", " ").split(), now, end)
    if _DAY.fullmatch(text):
        day = datetime.fromisoformat(text.upper()).replace(tzinfo=UTC)
        return _edge(day, 1, 0, end=end)
    # RFC 3339 allows small letters, and a leap second.
    written = _LOST_PLUS.sub(r"\1+", _LEAP.sub(r"\g<1>:59", text.upper()))
    moment = datetime.fromisoformat(written)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _before(now: datetime, count: int, unit: str) -> datetime:
    if unit == "months":
        return _months_later(now, -count)
    if unit == "years":
        return _months_later(now, -count * 12)
    return now - timedelta(**{unit: count})


def _named(match: re.Match[str]) -> tuple[datetime, int, int]:
    """(start, days, months) of the stretch of time that a number of the calendar names."""
    year = int(match[1])
    if week := match["week"]:
        return datetime.fromisocalendar(year, int(week), 1).replace(tzinfo=UTC), 7, 0
    if quarter := match["quarter"]:
        return datetime(year, int(quarter) * 3 - 2, 1, tzinfo=UTC), 0, 3
    month, day = match["month"], match["day"]
    start = datetime(year, int(month or 1), int(day or 1), tzinfo=UTC)
    return (start, 1, 0) if day else (start, 0, 1 if month else 12)


def _spoken(words: list[str], now: datetime, end: bool) -> datetime:
    """`today` or `last month`, by the calendar of UTC."""
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if words == ["now"]:
        return now
    if len(words) == 1:
        return _edge(today - timedelta(days=words == ["yesterday"]), 1, 0, end=end)
    back = 1 if words[0] == "last" else 0
    if words[1] == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return _edge(monday, 7, 0, end=end)
    months = _MONTHS[words[1]]
    first = today.replace(day=1, month=today.month - (today.month - 1) % months)
    return _edge(_months_later(first, -back * months), 0, months, end=end)


def _edge(start: datetime, days: int, months: int, *, end: bool) -> datetime:
    """A stretch's start, or with `end` its end; the end of time is the last second there is."""
    if not end:
        return start
    try:
        return _months_later(start, months) + timedelta(days=days)
    except (ValueError, OverflowError):
        return _LAST


def _months_later(moment: datetime, months: int) -> datetime:
    count = moment.year * 12 + moment.month - 1 + months
    year, month = divmod(count, 12)
    if not 1 <= year <= 9999:
        raise ValueError("the year is out of range")
    last_day = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last_day))
