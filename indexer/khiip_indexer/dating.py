"""When a note was saved or written, since when it is true, and when it was edited; pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TypedDict

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.metadata import Meta
from khiip_indexer.fields.written_dates import (
    MODIFIED_KEYS,
    RECORDED_KEYS,
    VALID_KEYS,
    first_date,
)
from khiip_indexer.shapes import Reading
from khiip_indexer.types import NoteFile, RecordedFrom

_DAY_NAME = re.compile(r"^\d{4}-\d{2}-\d{2}$")


class Times(TypedDict):
    """The times of a capture, aware and in UTC; `recorded_at_from` says where the first is from."""

    recorded_at: datetime
    recorded_at_from: RecordedFrom
    valid_from: datetime
    modified_at: datetime


def times(note: NoteFile, meta: Meta, reading: Reading) -> Times:
    """What the properties say, else what the note's shape knows, else its file or its commits."""
    recorded, known_from = _recorded(note, meta, reading)
    dates = note.dates
    return {
        "recorded_at": recorded,
        "recorded_at_from": known_from,
        "valid_from": _valid_from(meta, reading) or recorded,
        "modified_at": first_date(meta, MODIFIED_KEYS) or dates.git_last or dates.mtime,
    }


def _recorded(note: NoteFile, meta: Meta, reading: Reading) -> tuple[datetime, RecordedFrom]:
    """Return (when the user saved or wrote it, where that is known from)."""
    if reading.recorded_at is not None:
        return reading.recorded_at, reading.recorded_at_from
    skipped = ("created", "date") if reading.created_is_published else ()
    written = first_date(meta, tuple(key for key in RECORDED_KEYS if key not in skipped))
    if written is not None:
        return written, "frontmatter"
    name = note.path.rsplit("/", 1)[-1][:-3]
    day = parse_date(name) if _DAY_NAME.match(name) else None  # a daily note is of its day
    if day is not None:
        return day, "name"
    dates = note.dates
    return (dates.git_first, "git") if dates.git_first is not None else (dates.mtime, "mtime")


def _valid_from(meta: Meta, reading: Reading) -> datetime | None:
    if reading.valid_from is not None:
        return reading.valid_from
    if reading.published_is_not_validity:
        return first_date(meta, ("valid_from",))
    keys = (*VALID_KEYS, "created") if reading.created_is_published else VALID_KEYS
    return first_date(meta, keys)
