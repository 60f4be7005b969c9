"""The nouns that payloads of several sources share: frozen values, no I/O.

A field marked `FILLED` is sent only when it holds something; one marked `NEVER` stays inside the
program. All other fields are always sent, under their own names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from khiip_indexer.types import Segment, Task

if TYPE_CHECKING:
    from khiip_indexer.fields.metadata import Meta
    from khiip_indexer.shapes.base import Reading
    from khiip_indexer.types import Body


FILLED = {"when": "filled"}
NEVER = {"when": "never"}

MediaType = Literal["photo", "video", "gif", "audio", "document", "embed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    url: str
    type: MediaType
    local_path: str | None = None
    download_status: Literal["downloaded", "not-attempted"] = "not-attempted"
    alt_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """`posted_at` is RFC 3339, or "" where the note does not say; `depth` counts from 0."""

    id: str
    author: str | None
    body_markdown: str
    posted_at: str = ""
    depth: int = 0
    replies: tuple[Comment, ...] = ()
    points: int | None = field(default=None, metadata=FILLED)
    is_op: bool = field(default=False, metadata=FILLED)
    url: str | None = field(default=None, metadata=FILLED)
    line: int | None = field(default=None, metadata=NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engagement:
    likes: int | None = None
    net_score: int | None = None
    shares: int | None = None
    comments: int | None = None
    views: int | None = None
    saves: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    """A stretch of a text that somebody marked; `start` and `end` are seconds.

    `page` counts sheets from 1, `label` is the number printed on the page. `line` is the file's
    line for highlights that stand outside the running text, None for marks inside it.
    """

    page: int | None = None
    text: str = ""
    note: str | None = None
    color: str | None = field(default=None, metadata=FILLED)
    label: str | None = field(default=None, metadata=FILLED)
    location: int | None = field(default=None, metadata=FILLED)
    id: str | None = field(default=None, metadata=FILLED)
    tags: tuple[str, ...] = field(default=(), metadata=FILLED)
    title: str | None = field(default=None, metadata=FILLED)
    start: float | None = field(default=None, metadata=FILLED)
    end: float | None = field(default=None, metadata=FILLED)
    starred: bool = field(default=False, metadata=FILLED)
    group: str | None = field(default=None, metadata=FILLED)
    url: str | None = field(default=None, metadata=FILLED)
    line: int | None = field(default=None, metadata=NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    start: float
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedText:
    """A line of a transcript, or a note on a moment; `start` is seconds."""

    start: float
    text: str
    line: int | None = field(default=None, metadata=NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation; `role` is `user` or `assistant`."""

    role: str
    text: str
    label: str | None = field(default=None, metadata=FILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    category: str
    text: str
    tags: tuple[str, ...] = field(default=(), metadata=FILLED)
    context: str | None = field(default=None, metadata=FILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    type: str
    target: str
    context: str | None = field(default=None, metadata=FILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingItem:
    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItem:
    """`state` is a board's lane, or what the box's mark means."""

    done: bool
    text: str
    line: int
    state: str | None = field(default=None, metadata=FILLED)
    status: str | None = field(default=None, metadata=FILLED)
    due: str | None = field(default=None, metadata=FILLED)
    priority: str | None = field(default=None, metadata=FILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkItem:
    target: str
    display: str | None = None
    heading: str | None = field(default=None, metadata=FILLED)
    block: str | None = field(default=None, metadata=FILLED)
    embed: bool = field(default=False, metadata=FILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalloutItem:
    kind: str
    title: str
    text: str
    line: int
    meta: str | None = field(default=None, metadata=FILLED)
    folded: bool = field(default=False, metadata=FILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What any payload may hold beyond its source's own fields; empty ones are not sent.

    `flow` is the running text as segments with their heading paths and file lines.
    """

    source_label: str | None = field(default=None, metadata=FILLED)
    highlights: tuple[Highlight, ...] = field(default=(), metadata=FILLED)
    comments: tuple[Comment, ...] = field(default=(), metadata=FILLED)
    turns: tuple[Turn, ...] = field(default=(), metadata=FILLED)
    notes: tuple[TimedText, ...] = field(default=(), metadata=FILLED)
    own_notes: str | None = field(default=None, metadata=FILLED)
    observations: tuple[Observation, ...] = field(default=(), metadata=FILLED)
    relations: tuple[Relation, ...] = field(default=(), metadata=FILLED)
    tasks: tuple[TaskItem, ...] = field(default=(), metadata=FILLED)
    links: tuple[LinkItem, ...] = field(default=(), metadata=FILLED)
    fields: dict[str, str | list[str]] = field(default_factory=dict, metadata=FILLED)
    callouts: tuple[CalloutItem, ...] = field(default=(), metadata=FILLED)
    block_ids: tuple[str, ...] = field(default=(), metadata=FILLED)
    description: str | None = field(default=None, metadata=FILLED)
    site_name: str | None = field(default=None, metadata=FILLED)
    provider: str | None = field(default=None, metadata=FILLED)
    status_id: str | None = field(default=None, metadata=FILLED)
    video_id: str | None = field(default=None, metadata=FILLED)
    citekey: str | None = field(default=None, metadata=FILLED)
    zotero_key: str | None = field(default=None, metadata=FILLED)
    doi: str | None = field(default=None, metadata=FILLED)
    asin: str | None = field(default=None, metadata=FILLED)
    file: str | None = field(default=None, metadata=FILLED)
    page_created: str | None = field(default=None, metadata=FILLED)
    posted_at: str | None = field(default=None, metadata=FILLED)
    url: str | None = field(default=None, metadata=FILLED)
    reminder: str | None = field(default=None, metadata=FILLED)
    properties: dict[str, str | list[str]] = field(default_factory=dict, metadata=FILLED)
    flow: tuple[Segment, ...] = field(default=(), metadata=NEVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """All that a payload is made of: settled facts, the metadata, what a shape read, the body."""

    title: str
    url: str | None
    authors: tuple[str, ...]
    description: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    source_label: str | None
    published: str | None
    properties: dict[str, str | list[str]]
    meta: Meta
    reading: Reading
    body: Body
    markdown: str
    first_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the embed text says besides the payload itself."""

    title: str
    author: str | None
    description: str | None
    entities: tuple[str, ...]


TASK_STATES = {"/": "in_progress", "-": "cancelled", ">": "forwarded", "<": "scheduled"}


def task_item(task: Task, state: str | None = None) -> TaskItem:
    """Return the wire form of a task, with a board's lane as its state when there is one."""
    known = state or TASK_STATES.get(task.status)
    unusual = task.status if task.status not in (" ", "x", "X") else None
    return TaskItem(
        done=task.done,
        text=task.text,
        line=task.line,
        state=known,
        status=unusual,
        due=task.due,
        priority=task.priority,
    )
