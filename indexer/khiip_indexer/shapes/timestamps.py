"""Notes and transcripts on moments of a video: YTranscript, Media Extended, Timestamp Notes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url, video_id
from khiip_indexer.payloads.common import TimedText
from khiip_indexer.payloads.lines import headings, plain, seconds, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_STAMP = re.compile(
    r"^[ \t]{0,12}(?:[-*+][ \t]+)?\[(?P<clock>\d{1,2}(?::\d{2}){1,2})\]"
    r"\((?P<url>https?://[^)\s]+)\)[ \t]*(?P<text>.*)$"
)
_LOCAL = re.compile(
    r"^[ \t]{0,12}(?:[-*+][ \t]+)?\[\[[^\]\n|]{1,300}#t=(?P<at>[\d.:]{1,12})"
    r"(?:\|[^\]\n]{0,60})?\]\][ \t]*(?P<text>.*)$"
)
_AT = re.compile(r"[#&?]t=(\d{1,6}(?:\.\d{1,6})?)")
_FENCE = re.compile(r"^[ \t]*```[ \t]*(timestamp(?:-url)?)[ \t]*$")
_FACT = re.compile(r"^\*\*(Source|Retrieved)\*\*:[ \t]*(.+)$")
MIN_LINES = 5


@dataclass(frozen=True, slots=True)
class _Moments:
    """Timed lines; `noted` says that they are a viewer's notes, not what is said."""

    lines: tuple[TimedText, ...]
    used: frozenset[int]
    url: str | None
    noted: bool


def matches(doc: Doc) -> bool:
    if doc.has("```timestamp"):
        return True
    if any(doc.meta.text(key) for key in ("media", "video", "audio")):
        return doc.has("#t=", "&t=", "?t=")
    return doc.has("t=") and _main_video(doc)[1] >= MIN_LINES


def read(doc: Doc) -> Reading:
    """Lines with `#t=` are the viewer's notes, lines with `&t=` the transcript."""
    moments = _moments(doc)
    named = as_url(doc.meta.text("media", "video", "audio")) or doc.url
    facts = {m[1]: m[2] for line in doc.lines[:30] if (m := _FACT.match(line))}
    url = named or as_url(facts.get("Source")) or moments.url
    frame = {i for i, line in enumerate(doc.lines[:30]) if _FACT.match(line)}
    frame |= {i for i, level, _ in headings(doc.lines) if level == 1}
    saved = parse_date(facts.get("Retrieved", ""))
    return Reading(
        source="youtube" if video_id(url) else None,
        url=url,
        recorded_at=saved,
        recorded_at_from="body",
        title=_title(doc, rich="Source" in facts),
        transcript=None if moments.noted else moments.lines,
        body=without(doc.lines, frame, moments.used),
        extras={"notes": moments.lines} if moments.noted else {},
    )


def _title(doc: Doc, *, rich: bool) -> str | None:
    """Return the title; the rich template writes it as its first heading, of any level."""
    found = list(headings(doc.lines))
    first = next((text for _, level, text in found if level == 1 or rich), None)
    return doc.meta.text("title") or (plain(first) if first else None)


def _main_video(doc: Doc) -> tuple[str | None, int]:
    """Return (the video that most timed lines lead to, how many do)."""
    stamps = [m["url"] for line in doc.lines if "](http" in line and (m := _STAMP.match(line))]
    counted = Counter(found for url in stamps if (found := video_id(url)))
    return counted.most_common(1)[0] if counted else (None, 0)


def _moments(doc: Doc) -> _Moments:
    found: list[tuple[float, list[str], int]] = []
    used: set[int] = set()
    fence = ""
    open_ = noted = False
    url: str | None = None
    for index, line in enumerate(doc.lines):
        opening = _FENCE.match(line)
        stamp = None if fence else _stamp(line)
        if opening and not fence:
            fence, noted = opening.group(1), True
        elif fence and line.strip() == "```":
            fence = ""
        elif fence == "timestamp" and (at := seconds(line)) is not None:
            found.append((at, [], index))
            open_ = True
        elif fence:
            url = url or as_url(line)
        elif stamp:
            found.append((stamp[0], [stamp[1]], index))
            noted = noted or stamp[2]
            url, open_ = url or stamp[3], True
        elif open_ and line.strip() and not line.startswith("#"):
            found[-1][1].append(line.strip())
        else:
            open_ = open_ and not line.startswith("#") and not any(found[-1][1] if found else ())
            continue
        used.add(index)
    texts = (
        TimedText(start=at, text=plain("\n".join(words)), line=doc.line_number(index))
        for at, words, index in found
    )
    return _Moments(tuple(t for t in texts if t.text), frozenset(used), url, noted)


def _stamp(line: str) -> tuple[float, str, bool, str | None] | None:
    """Return (seconds, text, whether it is a note, the video's URL) of a timed line."""
    local = _LOCAL.match(line) if "#t=" in line else None
    if local:
        at = seconds(local["at"])
        return None if at is None else (at, local["text"], True, None)
    match = _STAMP.match(line) if "](http" in line else None
    exact = _AT.search(match["url"]) if match else None
    if match is None or exact is None:
        return None
    return float(exact.group(1)), match["text"], "#t=" in match["url"], _AT.sub("", match["url"])


SHAPE = Shape("timestamps", matches, read)
