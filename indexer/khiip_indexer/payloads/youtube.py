"""`youtube`: videos with description, chapters and transcript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from khiip_indexer.fields.sources import video_id
from khiip_indexer.payloads.build import engagement, extras, finish
from khiip_indexer.payloads.common import (
    Chapter,
    Comment,
    Engagement,
    Extras,
    Facts,
    Material,
    Media,
    TimedText,
)
from khiip_indexer.payloads.flow import media_of, own_words
from khiip_indexer.payloads.project import comment_segments, project, tail_segments
from khiip_indexer.payloads.transcripts import chapters_in, duration
from khiip_indexer.types import Segment

HEADING = "Transcript"


@dataclass(frozen=True, slots=True, kw_only=True)
class YouTubePayload(Extras):
    """A video; all times are seconds from its start."""

    kind: str = "youtube"
    title: str
    description: str
    duration_seconds: int | None
    uploader: str | None
    chapters: tuple[Chapter, ...]
    transcript: tuple[TimedText, ...]
    engagement: Engagement | None
    is_short: bool
    media: tuple[Media, ...]
    top_comments: tuple[Comment, ...]


def build(material: Material) -> YouTubePayload:
    """Return the payload of a video; chapters come from headings, else from the description."""
    reading, meta = material.reading, material.meta
    description = own_words(material.body, material.title) or material.description or ""
    payload = YouTubePayload(
        title=material.title,
        description=description,
        duration_seconds=duration(meta.text("duration_seconds", "duration", "length")),
        uploader=", ".join(material.authors) or None,
        chapters=reading.chapters or chapters_in(description),
        transcript=reading.transcript or (),
        engagement=engagement(material),
        is_short="/shorts/" in (material.url or ""),
        media=media_of(material.body),
        top_comments=reading.comments or (),
        video_id=video_id(material.url),
        **{**extras(material), "comments": ()},
    )
    return finish(payload, material)


def primary_text(payload: YouTubePayload) -> tuple[str, str]:
    """Return the description; a video without one is known by what is said in it."""
    if payload.description:
        return payload.description, "description"
    if payload.transcript:
        return "\n".join(line.text for line in payload.transcript), "transcript"
    noted = "\n".join(note.text for note in payload.notes)
    return (noted, "notes") if noted else ("", "description")


def embed_text(payload: YouTubePayload, facts: Facts) -> str:
    chapters = ", ".join(chapter.title for chapter in payload.chapters)
    said = "\n".join(line.text for line in (*payload.transcript[:20], *payload.notes[:20]))
    return project(
        facts, payload.description[:600], more=[chapters, said], properties=payload.properties
    )


def segments(payload: YouTubePayload) -> Iterable[Segment]:
    yield from payload.flow or ([Segment(payload.description)] if payload.description else ())
    chapters = sorted(payload.chapters, key=lambda chapter: chapter.start)
    at = -1
    for line in payload.transcript:
        while at + 1 < len(chapters) and chapters[at + 1].start <= line.start:
            at += 1
        path = (HEADING, chapters[at].title) if at >= 0 else (HEADING,)
        yield Segment(line.text, path, line.line)
    yield from comment_segments(payload.top_comments)
    yield from tail_segments(payload)
