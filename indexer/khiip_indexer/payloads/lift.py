"""Lift comments, transcripts and references out of a body before it is parsed as text; pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from khiip_indexer.payloads.common import Chapter
from khiip_indexer.payloads.lines import plain, unfenced, without
from khiip_indexer.payloads.threads import comment_section, read_comments
from khiip_indexer.payloads.transcripts import read_transcript

if TYPE_CHECKING:
    from khiip_indexer.shapes.base import Reading

_REFERENCE = re.compile(r"^\[\^[^\]\n]{1,80}\]:[ \t]*(.*)$")
_VIDEO_EMBED = re.compile(r"^!\[[^\]\n]*\]\(https?://[^)\s]*youtu[^)\s]*\)\s*$")

Lift = Callable[["Reading", str, int, "str | None"], "Reading"]


def lift(
    kind: str, reading: Reading, markdown: str, first_line: int, poster: str | None
) -> Reading:
    """Return the reading with what was lifted, and the body without those lines.

    The body keeps its number of lines, so that line numbers of what remains hold.
    """
    for step in _STEPS.get(kind, ()):
        body = markdown if reading.body is None else reading.body
        reading = step(reading, body, first_line, poster)
    return reading


def _comments(reading: Reading, body: str, first_line: int, poster: str | None) -> Reading:
    if reading.comments is not None or "**" not in body or not re.search("omments|eplies", body):
        return reading
    lines = body.split("\n")
    part = comment_section(lines)
    if part is None:
        return reading
    numbered = enumerate(lines[part.start : part.end], first_line + part.start)
    comments = read_comments(numbered, poster)
    if not comments:
        return reading
    return replace(
        reading, comments=tuple(comments), body=without(lines, range(part.heading, part.end))
    )


def _transcript(reading: Reading, body: str, first_line: int, poster: str | None) -> Reading:
    if reading.transcript is not None or "ranscript" not in body:
        return reading
    lines = body.split("\n")
    spoken = read_transcript(lines, first_line)
    if spoken is None:
        return reading
    gone = range(spoken.section.heading, spoken.section.end)
    chapters: tuple[Chapter, ...] = spoken.chapters or reading.chapters or ()
    return replace(reading, transcript=spoken.lines, chapters=chapters, body=without(lines, gone))


def _player(reading: Reading, body: str, first_line: int, poster: str | None) -> Reading:
    """Take the embedded player off the top: it is the video itself."""
    lines = body.split("\n")
    top = next((index for index, line in enumerate(lines) if line.strip()), None)
    if top is None or not _VIDEO_EMBED.match(lines[top]):
        return reading
    return replace(reading, body=without(lines, [top]))


def _references(reading: Reading, body: str, first_line: int, poster: str | None) -> Reading:
    """Take footnote definitions out: hundreds of citations say little about a page's subject."""
    if "[^" not in body or "references" in reading.extras:
        return reading
    lines = body.split("\n")
    found: list[list[str]] = []
    gone: list[int] = []
    inside = False
    for index, line in unfenced(lines):
        match = _REFERENCE.match(line) if line.startswith("[^") else None
        if match is not None:
            found.append([match.group(1)])
        elif inside and line.startswith(("    ", "\t")):
            found[-1].append(line.strip())
        else:
            inside = inside and not line.strip()
            continue
        inside = True
        gone.append(index)
    if not found:
        return reading
    references = tuple(plain("\n".join(part)) for part in found)
    extras = {**reading.extras, "references": references}
    return replace(reading, body=without(lines, gone), extras=extras)


_STEPS: dict[str, tuple[Lift, ...]] = {
    "reddit": (_comments,),
    "web": (_comments,),
    "youtube": (_player, _transcript, _comments),
    "wiki": (_references,),
}
