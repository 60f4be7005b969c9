"""The body of a saved X post or thread: own posts, quoted post, replies, note, article; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from khiip_indexer.fields.dates import parse_date, rfc3339
from khiip_indexer.fields.sources import status_id, x_handle
from khiip_indexer.payloads.common import Comment
from khiip_indexer.payloads.lines import headings, links, plain
from khiip_indexer.payloads.threads import comment_section, read_comments, who

_OLD_HEADER = re.compile(
    r"^[ \t]{0,8}\*\*(?P<who>[^*\n]{1,120})\*\*\s*"
    r"\[?@(?P<handle>[\w\\]{1,40})\]?(?:\([^)\s]*\))?\s*"
    r"(?:[·•-]\s*)?(?P<rest>\[[^\]\n]*\]\(\S*\)|[^\n]{0,40})\s*$"
)
_PLAIN_HEADER = re.compile(
    r"^[ \t]{0,8}(?P<who>[^\[\]\n]{1,80}) \(\[@(?P<handle>[\w\\]{1,40})\]\([^)\s]*\)\)"
    r" - (?P<rest>[^\n]{0,60})$"
)
_QUOTING = re.compile(
    r"^[ \t]{0,8}\**Quoting \[?@(?P<handle>[\w\\]{1,40})\]?(?:\((?P<url>[^)\s]*)\))?:?\**\s*$"
)
_QUOTE_HEADER = re.compile(r"^\*\*(?P<who>[^*\n]{1,120})\*\*\s*(?:[·•]\s*(?P<rest>.*))?$")
_REPLY_TO = re.compile(
    r"^[ \t]{0,8}_?In reply to_?:?_?\s*\[@?[^\]]*\]\(([^)\s]*)\)_?\s*$", re.IGNORECASE
)
_NOTE = re.compile(r"^[ \t]{0,8}\*\*Community note:\*\*\s*(.*)$", re.IGNORECASE)
_RULE = re.compile(r"^\s{0,3}(?:-[ \t]*){3,}$|^\s{0,3}(?:\*[ \t]*){3,}$")
_SOURCE_LINK = re.compile(
    r"^[ \t]{0,8}\[(?:Tweet link|View Tweet|tweet)\]\(\S+\)\s*$", re.IGNORECASE
)
_PICTURE = re.compile(r"^[ \t]{0,8}!\[(?P<alt>[^\]\n]*)\]\((?P<url>[^)\s]+)\)\s*$")
_CLIP_LINK = re.compile(
    r"^[ \t]{0,8}\[(?:video|media|gif)(?: \d{1,2})?\]\((?P<url>[^)\s]+)\)\s*$", re.I
)
_SIGNATURE = re.compile(
    r"^[ \t]{0,8}[—–-]+ (?P<who>[^\[\]\n]{1,120}?) ?\[(?P<day>[^\]\n]*)\]\((?P<url>[^)\s]+)\)\s*$"
)


@dataclass(slots=True)
class Quoted:
    handle: str | None
    text: str
    posted_at: str | None = None
    url: str | None = None


@dataclass(slots=True)
class Thread:
    """What was read of a saved post; `kept` are the body's lines that are the posts' own text."""

    texts: list[str] = field(default_factory=list)
    quoted: Quoted | None = None
    replies: list[Comment] = field(default_factory=list)
    community_note: str | None = None
    in_reply_to: str | None = None
    article: str | None = None
    pictures: list[tuple[str, str]] = field(default_factory=list)
    clips: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    posted_at: str | None = None
    lines: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)


def read_thread(markdown: str, handle: str | None, first_line: int) -> Thread:
    """Read a saved post; posts by other handles than `handle` count as replies."""
    lines = markdown.split("\n")
    thread = Thread()
    comments = comment_section(lines)
    end = len(lines)
    if comments is not None:
        numbered = enumerate(lines[comments.start : comments.end], first_line + comments.start)
        thread.replies = read_comments(numbered, handle)
        end = comments.heading if thread.replies else len(lines)
    for start, part in _posts(lines[:end]):
        _read_post(thread, part, handle, first_line + start)
    return thread


def _posts(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (start, lines) of the parts between horizontal rules."""
    start = 0
    for index, line in enumerate([*lines, "---"]):
        if _RULE.match(line):
            if any(text.strip() for text in lines[start:index]):
                yield start, lines[start:index]
            start = index + 1


def _read_post(thread: Thread, lines: list[str], handle: str | None, line: int) -> None:
    own, start, by = lines, 0, None
    for index, text in enumerate(lines):
        header = _OLD_HEADER.match(text) or _PLAIN_HEADER.match(text)
        if header is not None:
            own, start, by = lines[index + 1 :], index + 1, header["handle"].replace("\\", "")
            posted = _day(header["rest"])
            thread.posted_at = thread.posted_at or posted
            break
        if text.strip() and not _PICTURE.match(text):
            break
    if by and handle and by.lower() != handle.lower():
        body = "\n".join(own).strip()
        reply = Comment(
            id=f"c{line}", author=by, body_markdown=body, posted_at=posted or "", line=line
        )
        thread.replies.append(reply)
        return
    _read_own(thread, own, line + start)


def _read_own(thread: Thread, lines: list[str], line: int) -> None:
    kept: list[str] = []
    quoting: re.Match[str] | None = None
    noting = False
    for quoted, block, offset in _runs(lines):
        if not quoted:
            quoting, noting = _take_text(thread, block, kept, quoting, noting)
        elif noting:
            thread.community_note = plain("\n".join(block))
            noting = False
        else:
            _take_quote(thread, block, kept, quoting, line + offset)
            quoting = None
    text = plain("\n".join(kept))
    if text:
        thread.texts.append(text)
        thread.lines.append(line)


def _runs(lines: list[str]) -> Iterator[tuple[bool, list[str], int]]:
    """Yield (quoted, lines without `>`, offset) of neighbouring lines of one kind."""
    start = 0
    for index in range(1, len(lines) + 1):
        ends = index == len(lines) or _is_quote(lines[index]) != _is_quote(lines[start])
        if ends and lines:
            quoted = _is_quote(lines[start])
            block = [_bare(text) for text in lines[start:index]] if quoted else lines[start:index]
            yield quoted, block, start
            start = index


def _is_quote(line: str) -> bool:
    return line.lstrip(" ").startswith(">")


def _bare(line: str) -> str:
    text = line.lstrip(" ")[1:]
    return text[1:] if text.startswith(" ") else text


def _take_text(
    thread: Thread,
    block: list[str],
    kept: list[str],
    quoting: re.Match[str] | None,
    noting: bool,
) -> tuple[re.Match[str] | None, bool]:
    """Sort lines outside quotes into text, pictures and announcements of what the next quote is."""
    for text in block:
        note, reply = _NOTE.match(text), _REPLY_TO.match(text)
        picture, clip = _PICTURE.match(text), _CLIP_LINK.match(text)
        if found := _QUOTING.match(text):
            quoting = found
        elif note:
            thread.community_note, noting = plain(note.group(1)) or None, not note.group(1).strip()
        elif reply:
            thread.in_reply_to = status_id(reply.group(1)) or thread.in_reply_to
        elif picture:
            thread.pictures.append((picture["url"], picture["alt"]))
        elif clip:
            thread.clips.append(clip["url"])
        elif not _SOURCE_LINK.match(text):
            kept.append(text)
            thread.links += [url for _, url in links(text) if url.startswith("http")]
    if thread.article is None:
        thread.article = next((plain(t) for _, level, t in headings(kept) if level == 1), None)
    return quoting, noting


def _take_quote(
    thread: Thread, block: list[str], kept: list[str], quoting: re.Match[str] | None, line: int
) -> None:
    """Take a quote as the quoted post, a community note, the post itself, or as text."""
    filled = [text for text in block if text.strip()]
    if not filled:
        return
    note, signed = _NOTE.match(filled[0]), _SIGNATURE.match(filled[-1])
    inner = _QUOTING.match(filled[0])
    header = _QUOTE_HEADER.match(filled[0])
    if note:
        thread.community_note = plain(
            "\n".join([note.group(1), *block[block.index(filled[0]) + 1 :]])
        )
    elif signed:
        kept += block[: block.index(filled[-1])]
        thread.posted_at = _day(signed["day"]) or thread.posted_at
    elif quoting or inner:
        found = quoting or inner
        body = block if quoting else block[block.index(filled[0]) + 1 :]
        thread.quoted = _quoted(found, body) if found else None
    elif header and (header["rest"] is not None or "@" in header["who"]):
        body = block[block.index(filled[0]) + 1 :]
        rest = header["rest"] or ""
        url = next((url for _, url in links(rest)), None)
        thread.quoted = Quoted(who(header["who"]), plain("\n".join(body)), _day(rest), url)
    else:
        kept += ["", *(f"> {text}" for text in block), ""]


def _quoted(found: re.Match[str], body: list[str]) -> Quoted:
    url = found["url"] if found["url"] and status_id(found["url"]) else None
    handle = (x_handle(url) if url else None) or found["handle"].replace("\\", "")
    return Quoted(handle, plain("\n".join(body)), None, url)


def _day(rest: str) -> str | None:
    shown = links(rest)
    when = parse_date(shown[0][0] if shown else rest.strip())
    return rfc3339(when) if when else None
