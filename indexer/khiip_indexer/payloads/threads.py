"""Comment trees written as nested quotes: `> **name** · date · points`; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from khiip_indexer.fields.dates import parse_date, rfc3339
from khiip_indexer.payloads.common import Comment
from khiip_indexer.payloads.lines import Section, letters, links, number, plain, sections

MAX_DEPTH = 60  # a tree deeper than this is quoting, not conversation
_QUOTES = re.compile(r"^(?:[ \t]{0,3}>[ \t]?)+")
_HEADER = re.compile(r"^\*\*(?P<who>[^*\n]{1,120})\*\*(?P<badge>[^·•\n]{0,40})[·•](?P<rest>.*)$")
_DELETED = re.compile(r"^\*\*\\?\[(?:deleted|removed)\\?\]\*\*")
_POINTS = re.compile(
    r"([-−]?\d[\d.,]*\s?[kKmM]?)\s*(?:points?|pts?|⬆)|⬆️?\s*([-−]?\d[\d.,]*[kKmM]?)"
)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?")
_NAMED_DAY = re.compile(r"\b[A-Z][a-z]{2,8} \d{1,2}, \d{4}(?:,? \d{1,2}:\d{2} [AP]M)?")
_COMMENT_ID = re.compile(
    r"/comment/([a-z0-9]+)|[?&]id=(\d+)|/status/(\d+)|/comments/[^/]+/[^/]*/([a-z0-9]+)"
)
COMMENT_TITLES = frozenset({"comments", "topcomments", "replies"})


@dataclass(slots=True)
class _Draft:
    level: int
    author: str | None
    posted_at: str
    points: int | None
    url: str | None
    line: int
    body: list[str] = field(default_factory=list)


def comment_section(lines: list[str]) -> Section | None:
    """Return the section that holds the comments, by its heading."""
    for part in sections(lines):
        title = letters(part.title)
        if title in COMMENT_TITLES or title.rstrip("0123456789") == "replies":
            return part
    return None


def read_comments(lines: Iterable[tuple[int, str]], poster: str | None = None) -> list[Comment]:
    """Return the comment tree of quoted lines, given with their file lines.

    Only a header line opens a comment: a quote inside a comment is one `>` deeper and has none.
    """
    drafts: list[_Draft] = []
    for number_, line in lines:
        level, text = _level(line)
        header = _header(text, level, number_)
        if header is not None:
            drafts.append(header)
        elif drafts and level:
            extra = max(0, level - drafts[-1].level)
            drafts[-1].body.append("> " * min(extra, MAX_DEPTH) + text)
        elif drafts and drafts[-1].level == 0:
            drafts[-1].body.append(text)
    return _tree(drafts, poster)


def _level(line: str) -> tuple[int, str]:
    match = _QUOTES.match(line)
    if match is None:
        return 0, line
    return match.group(0).count(">"), line[match.end() :]


def _header(text: str, level: int, line: int) -> _Draft | None:
    if not text.startswith("**"):
        return None
    if _DELETED.match(text):
        rest = text.split("**", 2)[2]
        return _Draft(level, None, _posted(rest), _points(rest), _address(rest), line)
    match = _HEADER.match(text)
    if match is None:
        return None
    rest = match["rest"]
    return _Draft(level, who(match["who"]), _posted(rest), _points(rest), _address(rest), line)


def who(written: str) -> str:
    """Return a commenter's handle: the part after `@` of `Name @handle`, else the name."""
    name = plain(written).removeprefix("u/").strip()
    handle = re.search(r"(?:^|\s)\(?@([\w.@-]+)\)?$", name)
    return handle.group(1) if handle else name


def _posted(rest: str) -> str:
    match = _DAY.search(rest) or _NAMED_DAY.search(rest)
    when = parse_date(match.group(0)) if match else None
    return rfc3339(when) if when else ""


def _points(rest: str) -> int | None:
    match = _POINTS.search(rest)
    return number(match.group(1) or match.group(2)) if match else None


def _address(rest: str) -> str | None:
    return next((url for _, url in links(rest) if url.startswith("http")), None)


def _comment_id(draft: _Draft, position: int) -> str:
    match = _COMMENT_ID.search(draft.url or "")
    return next(filter(None, match.groups()), "") if match else f"c{position}"


def _tree(drafts: list[_Draft], poster: str | None) -> list[Comment]:
    """Hang every comment under the nearest one above it that is less deeply quoted."""
    children: dict[int, list[int]] = {-1: []}
    depths: list[int] = []
    stack: list[int] = []
    for index, draft in enumerate(drafts):
        while stack and drafts[stack[-1]].level >= draft.level:
            stack.pop()
        del stack[MAX_DEPTH:]
        children.setdefault(stack[-1] if stack else -1, []).append(index)
        depths.append(len(stack))
        stack.append(index)
    built: dict[int, Comment] = {}
    for index in reversed(range(len(drafts))):  # children stand after their parents
        comment = _comment(drafts[index], index + 1, depths[index], poster)
        built[index] = replace(comment, replies=tuple(built[c] for c in children.get(index, ())))
    return [built[index] for index in children[-1]]


def _comment(draft: _Draft, position: int, depth: int, poster: str | None) -> Comment:
    return Comment(
        id=_comment_id(draft, position),
        author=draft.author,
        body_markdown="\n".join(draft.body).strip(),
        posted_at=draft.posted_at,
        depth=depth,
        points=draft.points,
        is_op=bool(poster and draft.author and poster.lower() == draft.author.lower()),
        url=draft.url,
        line=draft.line,
    )


def walk(comments: Iterable[Comment]) -> Iterable[Comment]:
    """Yield every comment of a tree, parents first, in the order of the page."""
    waiting = list(comments)[::-1]
    while waiting:
        comment = waiting.pop()
        yield comment
        waiting.extend(reversed(comment.replies))
