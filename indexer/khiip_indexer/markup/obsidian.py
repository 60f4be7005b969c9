"""Obsidian's own inline syntax: pure scanners over a text, linear in its length."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from khiip_indexer.markup.html import match_tag
from khiip_indexer.types import Link

ScanKind = Literal[
    "text", "wikilink", "embed", "mark", "maths", "note_ref", "note", "url", "tag", "block_id"
]

_REACH = 2000  # characters in which an inline construct must close

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_SIZE = re.compile(r"\d+(?:x\d+)?$")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_NOTE_REF = re.compile(r"\[\^([^\]\s\[^]{1,100})\]")
_INLINE_NOTE = re.compile(
    r"\^\[((?:[^\[\]\n]|\[[^\[\]\n]*\]|\[\[[^\[\]\n]*\]\])+)\]"  # a link may stand inside
)
_BLOCK_ID = re.compile(r"\^([A-Za-z0-9-]+)\s*\Z")
_URL = re.compile(r"://[^\s<>\[\]\"`|，。、；：！？）」』】]+")
_URL_SCHEME = re.compile(r"(?<![A-Za-z0-9])https?\Z", re.IGNORECASE)
_MEDIA = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|tiff?|heic|mp3|wav|m4a|ogg|oga|opus|flac|3gp|mp4|webm"
    r"|ogv|mov|mkv|base)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Scan:
    """A construct found in a text: where it ends, what it is, what it holds.

    `opens` and `closes` say what a highlight mark can do; `back` is how many characters before
    the position belong to it as well (the scheme of a URL).
    """

    kind: ScanKind
    end: int
    content: str
    opens: bool = False
    closes: bool = False
    back: int = 0


def scan(src: str, pos: int, end: int) -> Scan | None:
    """Return the Obsidian construct that starts at `pos` and lies before `end`, if there is one."""
    scanner = _SCANNERS.get(src[pos])
    found = scanner(src, pos, end) if scanner else None
    return found if found and found.end <= end else None


def _bracket(src: str, pos: int, end: int) -> Scan | None:
    if src.startswith("[[", pos):
        return _wikilink(src, pos, pos + 2, "wikilink")
    match = _NOTE_REF.match(src, pos)
    return Scan("note_ref", match.end(), match[1]) if match else None


def _bang(src: str, pos: int, end: int) -> Scan | None:
    return _wikilink(src, pos, pos + 3, "embed") if src.startswith("![[", pos) else None


def _wikilink(src: str, pos: int, start: int, kind: ScanKind) -> Scan | None:
    close = src.find("]]", start, start + _REACH)
    if close <= start:
        return None
    inner = src[start:close]
    if "[[" in inner or "\n" in inner or inner[0] == "[":
        return None
    return Scan(kind, close + 2, inner)


def _equals(src: str, pos: int, end: int) -> Scan:
    stop = pos
    while stop < end and src[stop] == "=":
        stop += 1
    if stop - pos != 2:
        return Scan("text", stop, src[pos:stop])
    opens = stop < end and not src[stop].isspace()
    closes = pos > 0 and not src[pos - 1].isspace()
    return Scan("mark", stop, "==", opens, closes)


def _dollar(src: str, pos: int, end: int) -> Scan | None:
    limit = min(end, pos + _REACH)
    if src.startswith("$$", pos):
        close = src.find("$$", pos + 2, limit)
        return Scan("maths", close + 2, src[pos : close + 2]) if close > pos + 2 else None
    close = src.find("$", pos + 1, limit)
    if close <= pos + 1 or src[pos + 1].isspace() or src[close - 1].isspace():
        return None  # money: "$5 and $6"
    if close + 1 < end and src[close + 1].isdigit():
        return None  # "$5-$6"
    inner = src[pos : close + 1]
    return None if "\n" in inner else Scan("maths", close + 1, inner)


def _caret(src: str, pos: int, end: int) -> Scan | None:
    if note := _INLINE_NOTE.match(src, pos, min(end, pos + _REACH)):
        return Scan("note", note.end(), note[1])
    if pos and not src[pos - 1].isspace():
        return None
    match = _BLOCK_ID.match(src, pos)
    return Scan("block_id", match.end(), match[1]) if match else None


def _colon(src: str, pos: int, end: int) -> Scan | None:
    scheme = _URL_SCHEME.search(src[max(0, pos - 6) : pos])
    match = _URL.match(src, pos, end) if scheme else None
    if not match or not scheme:
        return None
    start = pos - len(scheme[0])
    url = trim_url(src[start : match.end()])
    if src[max(0, start - 2) : start] == "==":
        url = url.removesuffix("==")
    if url.lower() in ("http://", "https://", "http:", "https:"):
        return None
    return Scan("url", start + len(url), url, back=len(scheme[0]))


def trim_url(url: str) -> str:
    """Drop what follows a URL in prose: punctuation, emphasis, a bracket that it did not open."""
    while url:
        trimmed = url.rstrip(".,;:!?'*_~’”")
        if trimmed.endswith(")") and trimmed.count(")") > trimmed.count("("):
            trimmed = trimmed[:-1]
        if trimmed == url:
            break
        url = trimmed
    return url


def _angle(src: str, pos: int, end: int) -> Scan | None:
    match = match_tag(src, pos, end)
    return Scan("tag", match.end(), match[0]) if match else None


_SCANNERS: dict[str, Callable[[str, int, int], Scan | None]] = {
    "[": _bracket,
    "!": _bang,
    "=": _equals,
    "$": _dollar,
    "^": _caret,
    ":": _colon,
    "<": _angle,
}


# --- links ------------------------------------------------------------------------------------


def wikilink(inner: str, *, embed: bool) -> Link:
    """Read what stands between `[[` and `]]`; an embed's size is no display text."""
    path, _, alias = inner.replace("\\|", "|").partition("|")
    target, heading, block = _split_anchor(_ESCAPED.sub(r"\1", path))
    display = _ESCAPED.sub(r"\1", alias).strip() or None
    if embed and display and _SIZE.fullmatch(display):
        display = None
    return Link(target, display, heading, block, embed)


def wikilink_text(link: Link) -> str:
    """What a reader sees of a wikilink; nothing of an embedded picture, sound or film."""
    if link.embed and _MEDIA.search(link.target):
        return ""
    if link.display:
        return link.display
    is_page_of_file = link.heading is not None and "=" in link.heading
    headings = link.heading.split("#") if link.heading and not is_page_of_file else []
    return " > ".join(part.strip() for part in (link.target, *headings) if part.strip())


def markdown_link(href: str, display: str | None, *, embed: bool) -> Link | None:
    """Read the destination of a Markdown link; None for one that stays in the note."""
    if _SCHEME.match(href) or href.startswith("//"):
        return Link(href, display, embed=embed, external=True)
    target, heading, block = _split_anchor(unquote(href))
    return Link(target, display, heading, block, embed) if target else None


def image_caption(text: str) -> str | None:
    """The alternative text of an image without Obsidian's size, which follows a `|`."""
    caption, bar, size = text.rpartition("|")
    if bar and _SIZE.fullmatch(size.strip()):
        text = caption
    text = text.strip()
    return text if text and not _SIZE.fullmatch(text) else None


def _split_anchor(path: str) -> tuple[str, str | None, str | None]:
    target, _, anchor = path.partition("#")
    heading, caret, block = anchor.partition("^")
    return target.strip(), heading.strip("# ") or None, (block.strip() or None) if caret else None
