"""The nouns of the write side: frozen values, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

Source = Literal["x", "web", "wiki", "pdf", "youtube", "reddit", "note"]
SOURCES: tuple[Source, ...] = ("x", "web", "wiki", "pdf", "youtube", "reddit", "note")

# What frontmatter may hold: scalars stay the text that was written.
Value = str | list["Value"] | dict[str, "Value"] | None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a note, or in the index, that could not be used as promised.

    `line` counts from 1 in the file; `code` is stable; `reason` is one sentence; `hint` says
    what a person can do.
    """

    path: str
    code: str
    reason: str
    line: int | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the file system says of a file without opening it (bytes, nanoseconds)."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


FrontmatterState = Literal["present", "absent", "malformed"]


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A note split into metadata and body; line ends are `\\n`, no byte-order mark, no NUL.

    `metadata` keeps keys as written, in order; every scalar is text as written or None.
    `body_line` is the 1-based line of the file on which `body` starts.
    `raw` is the text between the fences ("" when there is none).
    """

    metadata: dict[str, Value]
    body: str
    body_line: int
    state: FrontmatterState
    raw: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A wikilink or a Markdown link; `target` has no `#heading`, `^block` or `|alias` part."""

    target: str
    display: str | None = None
    heading: str | None = None
    block: str | None = None
    embed: bool = False
    external: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """`status` is the character in the brackets; `text` has no dates, priority or tags marks."""

    done: bool
    text: str
    line: int
    status: str = " "
    due: str | None = None
    priority: str | None = None


@dataclass(frozen=True, slots=True)
class Callout:
    kind: str
    meta: str | None
    fold: str | None
    title: str
    text: str
    line: int


BlockKind = Literal["heading", "paragraph", "item", "quote", "code", "table", "callout", "rule"]


@dataclass(frozen=True, slots=True)
class Block:
    """One stretch of plain text with the file line it starts on.

    `level` is the rank of a heading, else the depth of the list or quotation around the text;
    `info` is the info string of a code fence.
    """

    kind: BlockKind
    text: str
    line: int
    level: int = 0
    info: str = ""


@dataclass(frozen=True, slots=True)
class Body:
    """A Markdown body as plain text and structure; lines are lines of the file.

    `text` is the blocks joined by blank lines: no markup, no comments, no machine blocks; code
    stays as its bare lines. `fallback` says that the parser gave up and simple line rules were
    used instead: then only text, headings, links, tags and urls are filled.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    tags: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    fields: dict[str, list[str]] = field(default_factory=dict)
    highlights: tuple[str, ...] = ()
    footnotes: dict[str, str] = field(default_factory=dict)
    callouts: tuple[Callout, ...] = ()
    block_ids: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class Dates:
    """What git and the file system know of a file's age (UTC); None where they know nothing."""

    mtime: datetime
    git_first: datetime | None = None
    git_last: datetime | None = None


@dataclass(frozen=True, slots=True)
class NoteFile:
    """One note's bytes as read, with its vault-relative path (`/` separators)."""

    path: str
    raw: bytes
    dates: Dates


class Payload(Protocol):
    """Typed content of a capture; `kind` equals the capture's source."""

    @property
    def kind(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a payload's text to be cut into passages; `headings` is the path above it."""

    text: str
    headings: tuple[str, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that has its own vector. Ordinal 0 is the capture's embed text."""

    ordinal: int
    text: str
    heading: str | None = None
    line: int | None = None


ExtractionStatus = Literal["success", "partial", "pending-retry", "failed-permanent"]
RecordedFrom = Literal["frontmatter", "body", "name", "git", "mtime"]
Form = Literal["template", "links"]


@dataclass(frozen=True, slots=True)
class Pointer:
    """A reference from one note to another as written: an id, a path or a link's target."""

    target: str


@dataclass(frozen=True, slots=True)
class Capture:
    """A note as the API serves it (contract sections 3 and 11), before ids and chains are settled.

    `declared_id` is what the note says its id is, None if it says nothing; `derived_id` follows
    from the path alone. Times are aware and in UTC. `importance` is None unless written.
    `properties` are (key, value) pairs of the frontmatter as filters compare them; `kind` says
    what kind of entity the note itself is. `form` is what it is where it is hardly a text.
    """

    path: str
    declared_id: str | None
    derived_id: str
    url: str
    source: Source
    title: str
    author: str | None
    description: str | None
    recorded_at: datetime
    recorded_at_from: RecordedFrom
    valid_from: datetime
    modified_at: datetime
    archived: bool
    superseded_by: Pointer | None
    supersedes: tuple[Pointer, ...]
    user_tags: tuple[str, ...]
    entities: tuple[str, ...]
    aliases: tuple[str, ...]
    layer: str | None
    altitude: str | None
    mem_type: str | None
    mem_state: str | None
    thread_id: str | None
    importance: float | None
    pinned: bool
    payload: Payload
    host: str | None
    extraction_status: ExtractionStatus
    frontmatter_state: FrontmatterState
    problems: tuple[Problem, ...]
    title_from_stem: bool = False
    properties: tuple[tuple[str, str], ...] = ()
    kind: str | None = None
    form: Form | None = None


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """What makes two vectors comparable; vectors of two identities never meet in one search."""

    name: str
    sha256: str
    dimension: int
    pooling: str
    window: int

    @property
    def key(self) -> str:
        return f"{self.name}:{self.sha256[:16]}:{self.dimension}:{self.pooling}:{self.window}"


Spans = Sequence[tuple[int, int]]
