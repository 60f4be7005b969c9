"""What a recogniser sees of a note and what it gives back; no I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from khiip_indexer.fields.metadata import Meta, unwrap_wikilinks
from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Chapter, Comment, Highlight, TimedText
from khiip_indexer.payloads.lines import links
from khiip_indexer.types import Frontmatter, RecordedFrom, Source

URL_KEYS = (
    "url",
    "source",
    "source_url",
    "link",
    "canonical",
    "permalink",
    "original_url",
    "media",
)


class Doc:
    """A note as the recognisers see it; its lines and its URL are found once, when asked for."""

    def __init__(self, path: str, front: Frontmatter, meta: Meta) -> None:
        self.path = path
        self.meta = meta
        self.text = front.body
        self.first_line = front.body_line
        name = path.rsplit("/", 1)[-1]
        self.stem = name[:-3] if name.lower().endswith(".md") else name

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def url(self) -> str | None:
        """The first http(s) URL among the frontmatter's URL keys."""
        written = (text for key in URL_KEYS for text in self.meta.texts(key))
        return next((url for text in written if (url := as_url(text))), None)

    def has(self, *marks: str) -> bool:
        """Say whether the body holds one of the marks."""
        return any(mark in self.text for mark in marks)

    def line_number(self, index: int) -> int:
        """Return the file's line of a line of the body (index from 0)."""
        return self.first_line + index


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a shape knows better than the general table; None and empty mean "as usual".

    `tags` replaces frontmatter and body tags; `clipped` says that the body's hashtags are another
    person's; `created_is_published` that `created` is the date of the content, not of the saving;
    `published_is_not_validity` that `published` says nothing about when the text was true;
    `body` is the Markdown to use, with as many lines as the original so that line numbers hold;
    `extras` are payload fields by name.
    """

    source: Source | None = None
    url: str | None = None
    title: str | None = None
    authors: tuple[str, ...] | None = None
    description: str | None = None
    recorded_at: datetime | None = None
    recorded_at_from: RecordedFrom = "frontmatter"
    valid_from: datetime | None = None
    created_is_published: bool = False
    published_is_not_validity: bool = False
    tags: tuple[str, ...] | None = None
    extra_tags: tuple[str, ...] = ()
    clipped: bool = False
    site_name: str | None = None
    thread_id: str | None = None
    importance: float | None = None
    layer: str | None = None
    mem_state: str | None = None
    entities: tuple[str, ...] = ()
    body: str | None = None
    highlights: tuple[Highlight, ...] = ()
    transcript: tuple[TimedText, ...] | None = None
    chapters: tuple[Chapter, ...] | None = None
    comments: tuple[Comment, ...] | None = None
    lanes: Mapping[int, str] = field(default_factory=dict)
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shape:
    """A tool's notes: how to know them (cheaply) and how to read them."""

    name: str
    matches: Callable[[Doc], bool]
    read: Callable[[Doc], Reading]


def names(*written: str | None) -> tuple[str, ...]:
    """Return people's names without links, quotes, escapes and `@`; empty ones are left out."""
    found = (clean_name(text) for text in written if text)
    return tuple(dict.fromkeys(name for name in found if name))


def clean_name(text: str) -> str:
    """Return one name as people read it: `"[[ann_b|Ann\\_B]]"` is `Ann_B`, `[[@ann]]` is `ann`.

    A plain `@ann` stays: only in a link is the `@` the link's and not the name's.
    """
    written = text.strip().strip("\"'")
    shown = unwrap_wikilinks(written)
    for label, address in links(shown):
        shown = shown.replace(f"[{label}]({address})", label)
    name = shown.replace("\\_", "_").replace("\\", "").strip()
    return name if shown == written else name.removeprefix("@").strip()


_BARE_HOST = re.compile(r"^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,4}\.[a-z]{2,18}$")


def part_sites(authors: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """Part people from sites that stand in an author field; return (people, first site)."""
    sites = [name for name in authors if _BARE_HOST.match(name)]
    people = tuple(name for name in authors if name not in sites)
    return people, (sites[0] if sites else None)


def nested(meta: Meta, name: str) -> Meta:
    """Return a frontmatter map inside the frontmatter; an empty one when there is none."""
    value = meta.first(name)
    return Meta(value if isinstance(value, dict) else {})


def cut_tags(text: str) -> tuple[str, ...]:
    """Return the tags of a line of text, as frontmatter tags are read."""
    return tuple(Meta({"tags": text}).tags("tags"))
