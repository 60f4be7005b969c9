"""Accesses as JSON lines, as devices exchange them; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from khiip_indexer.errors import KhiipError
from khiip_indexer.storage.access_rows import Entry

_START = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# The last moment that can be written down again, in any zone.
_LAST = (datetime(9999, 12, 31, tzinfo=UTC) - _START) // _MILLISECOND
_MOST = 2**53
_LONGEST = 1000


class _Malformed(ValueError):
    """A line that says no access; the text is the reason."""


def line_of(entry: Entry) -> str:
    """An access as `{"id", "device", "at"}`, many as `{"id", "device", "count", "until"}`."""
    whose = {"id": entry.id, "device": entry.device}
    if entry.count is None:
        what: dict[str, object] = {"at": _written(entry.at)}
    else:
        what = {"count": entry.count, "until": _written(entry.at)}
    return json.dumps(whose | what, ensure_ascii=False, separators=(",", ":"))


def entries_of(lines: Iterable[bytes]) -> list[Entry]:
    """Read lines back; blank ones and unknown fields are passed over.

    Raises KhiipError (`bad_access_line`) that names the first line that is none.
    """
    found = []
    for number, raw in enumerate(lines, 1):
        try:
            text = raw.decode("utf-8-sig").strip()
            if text:
                found.append(_entry(json.loads(text)))
        except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, or not what is meant
            reason = str(error) if isinstance(error, _Malformed) else "this is not a line of JSON"
            raise KhiipError(
                f"Line {number} is no access: {reason}.",
                hint="Nothing was imported. `khiipd access export` writes such lines.",
                code="bad_access_line",
            ) from error
    return found


def _entry(said: object) -> Entry:
    if not isinstance(said, dict):
        raise _Malformed("it must be a JSON object")
    identity, device = _name(said, "id"), _name(said, "device")
    if "at" in said:
        return Entry(identity, device, _moment(said, "at"))
    return Entry(identity, device, _moment(said, "until"), _count(said))


def _name(said: dict[str, object], key: str) -> str:
    value = said.get(key)
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        raise _Malformed(f"`{key}` must be a text")
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise _Malformed(f"`{key}` is no Unicode text")
    return value


def _count(said: dict[str, object]) -> int:
    value = said.get("count")
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _MOST:
        raise _Malformed("`count` must be a whole number of 1 or more")
    return value


def _moment(said: dict[str, object], key: str) -> int:
    value = said.get(key)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is not None and moment.tzinfo is not None:
        milliseconds = (moment - _START) // _MILLISECOND
        if 0 <= milliseconds <= _LAST:
            return milliseconds
    raise _Malformed(f"`{key}` must be a time such as 2026-01-03T10:00:00.000Z")


def _written(milliseconds: int) -> str:
    moment = _START + milliseconds * _MILLISECOND
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
