"""Transcripts, chapters and times as clippers and plugins write them; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from khiip_indexer.payloads.common import Chapter, TimedText
from khiip_indexer.payloads.lines import Section, headings, letters, plain, seconds, sections

_CLOCK = r"\d{1,2}(?::\d{2}){1,2}"
_STAMP = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*+]\s+)?(?:\*\*(?P<a>{_CLOCK})\*\*|\[(?P<b>{_CLOCK})\]\([^)\s]*\)"
    rf"|[\[(](?P<c>{_CLOCK})[\])]|(?P<d>{_CLOCK}))\s*[·:–—-]?\s+(?P<text>\S.*)$"
)
_CHAPTER_LINE = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*+]\s+)?[\[(]?({_CLOCK})[\])]?\s+(?:[-–—]\s+)?(\S.{{0,120}}?)\s*$"
)
TITLES = frozenset({"transcript", "transcripts", "fulltranscript", "videotranscript"})


@dataclass(frozen=True, slots=True)
class Spoken:
    lines: tuple[TimedText, ...]
    chapters: tuple[Chapter, ...]
    section: Section


def transcript_section(lines: list[str]) -> Section | None:
    """Return the section under a `Transcript` heading."""
    return next((part for part in sections(lines) if letters(part.title) in TITLES), None)


def read_transcript(lines: list[str], first_line: int) -> Spoken | None:
    """Return the timed lines and chapters under the transcript's heading, None without one.

    A transcript without times is one entry at second 0.
    """
    part = transcript_section(lines)
    if part is None:
        return None
    titles = {index: plain(title) for index, _, title in headings(lines[part.start : part.end])}
    timed: list[tuple[float, list[str], int]] = []
    chapters: list[Chapter] = []
    waiting: list[str] = []
    for offset, line in enumerate(lines[part.start : part.end]):
        if offset in titles:
            waiting.append(titles[offset])
            continue
        stamp = read_stamp(line)
        if stamp is not None:
            chapters += [Chapter(start=stamp[0], title=title) for title in waiting]
            waiting = []
            timed.append((stamp[0], [stamp[1]], first_line + part.start + offset))
        elif line.strip():
            if not timed:
                timed.append((0.0, [], first_line + part.start + offset))
            timed[-1][1].append(line.strip())
    entries = tuple(
        TimedText(start=start, text=plain("\n".join(words)), line=line)
        for start, words, line in timed
    )
    return Spoken(entries, tuple(chapters), part)


def read_stamp(line: str) -> tuple[float, str] | None:
    """Return (seconds, text) of a line that opens with a time."""
    match = _STAMP.match(line) if ":" in line[:24] else None
    if match is None:
        return None
    clock = match["a"] or match["b"] or match["c"] or match["d"]
    start = seconds(clock)
    return None if start is None else (start, match["text"])


def chapters_in(description: str) -> tuple[Chapter, ...]:
    """Return the chapters that a description lists as `00:37 Title` lines, two or more of them."""
    found: list[Chapter] = []
    for line in description.split("\n"):
        match = _CHAPTER_LINE.match(line) if ":" in line[:16] else None
        start = seconds(match.group(1)) if match else None
        if match and start is not None:
            found.append(Chapter(start=start, title=plain(match.group(2))))
    return tuple(found) if len(found) > 1 else ()


def duration(text: str | None) -> int | None:
    """Return the seconds of `12:34`, `PT12M34S` or a bare number."""
    if not text:
        return None
    iso = re.fullmatch(r"P?T?(?:(\d{1,3})H)?(?:(\d{1,4})M)?(?:(\d{1,6})S)?", text.strip().upper())
    if iso and any(iso.groups()):
        hours, minutes, rest = (int(part or 0) for part in iso.groups())
        return hours * 3600 + minutes * 60 + rest
    total = seconds(text)
    return None if total is None else int(total)
