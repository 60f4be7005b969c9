"""The embed text's frame: who and what a capture is about, then the head of its text; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from khiip_indexer.payloads.common import Comment, Extras, Facts
from khiip_indexer.payloads.flow import begins, highlight_segments
from khiip_indexer.payloads.lines import plain
from khiip_indexer.payloads.threads import walk
from khiip_indexer.types import Segment

HEAD_CHARS = 2_400  # more than any model window at hand takes
MAX_ENTITIES = 5
MAX_TOPICS = 8
MAX_PROPERTY_CHARS = 300
_TAG_SIGNS = re.compile(r"[/_-]+")
_NO_WORDS = re.compile(
    r"^[\d\s.,:/TZ+%-]*$|^(?:true|false|yes|no|[a-z]{2})$|^\w+://\S*$", re.IGNORECASE
)


def project(
    facts: Facts,
    primary: str,
    *,
    title: bool = True,
    more: Iterable[str | None] = (),
    properties: Mapping[str, str | list[str]] | None = None,
) -> str:
    """Return title, author, description, entities, properties and text, a line each, no repeats.

    A description that is the cut beginning of the text is left out.
    """
    head = primary[:HEAD_CHARS].removeprefix(f"{facts.title}\n").lstrip()
    worded = property_text(properties or {}, facts.title)[:MAX_PROPERTY_CHARS]
    lines: list[str | None] = [facts.title if title else None, facts.author]
    if not begins(primary, facts.description):
        lines.append(facts.description)
    known = f"{facts.title}\n{facts.author}\n{worded}\n{head}".lower()
    lines.append(", ".join([e for e in facts.entities if e.lower() not in known][:MAX_ENTITIES]))
    lines += [worded, head, *more]
    kept = dict.fromkeys(line.strip() for line in lines if line and line.strip())
    return "\n".join(kept)


def topics(tags: Iterable[str], title: str, primary: str) -> str:
    """Return the tags as words (`boat/hull-care` is `boat hull care`) that are not said already."""
    said = f"{title}\n{primary[:HEAD_CHARS]}".casefold()
    words = (_TAG_SIGNS.sub(" ", tag).strip() for tag in tags)
    return ", ".join([word for word in words if word.casefold() not in said][:MAX_TOPICS])


def property_text(properties: Mapping[str, str | list[str]], title: str = "") -> str:
    """Return the properties that hold words, `key: value` a line.

    Numbers, codes of two letters, URLs and what the title says already are left out.
    """
    out: list[str] = []
    for key, value in properties.items():
        values = [value] if isinstance(value, str) else value
        words = [text for text in values if not _NO_WORDS.match(text) and text not in title]
        if words:
            out.append(f"{key}: {', '.join(words)}")
    return "\n".join(out)


def tail_segments(payload: Extras) -> Iterable[Segment]:
    """Yield what stands beside the running text: highlights, comments, timed notes, properties."""
    yield from highlight_segments(payload.highlights)
    yield from comment_segments(payload.comments)
    for note in payload.notes:
        yield Segment(note.text, (), note.line)
    text = property_text(payload.properties)
    if text:
        yield Segment(text)


def comment_segments(comments: Iterable[Comment], heading: str = "Comments") -> Iterable[Segment]:
    """Yield every comment of a tree with its author in front."""
    for comment in walk(comments):
        text = plain(comment.body_markdown)
        if text:
            said = f"{comment.author}: {text}" if comment.author else text
            yield Segment(said, (heading,), comment.line)
