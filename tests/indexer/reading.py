"""Captures of notes written inline."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from khiip_indexer.captures import read_capture
from khiip_indexer.payloads import payload_json, segments
from khiip_indexer.types import Capture, Dates, NoteFile

MTIME = datetime(2030, 1, 1, tzinfo=UTC)


def read(text: str | bytes, path: str = "Inbox/note.md", dates: Dates | None = None) -> Capture:
    """The capture of a note with this text, in a vault named Harbour."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return read_capture(NoteFile(path, raw, dates or Dates(MTIME)), "Harbour")


def clip(url: str, body: str, **more: str) -> Capture:
    """A clip of a page: the clipper's frontmatter with `more` keys, then the body."""
    keys = {"title": "A page", "source": url, "created": "2026-05-20", **more}
    front = "\n".join(f"{key}: {json.dumps(value)}" for key, value in keys.items())
    return read(f"---\n{front}\n---\n{body}")


def wire(capture: Capture) -> dict[str, Any]:
    """The payload as it is sent."""
    loaded: dict[str, Any] = json.loads(payload_json(capture.payload))
    return loaded


def all_text(capture: Capture) -> str:
    """All that is cut into passages."""
    return "\n".join(part.text for part in segments(capture))
