"""Which source a URL belongs to, and what counts as a URL at all; pure."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from khiip_indexer.types import SOURCES, Source

_X_POST = re.compile(r"/(?:status(?:es)?|article|thread)/", re.IGNORECASE)
_X_HANDLE = re.compile(r"^/([A-Za-z0-9_]{1,20})/(?:status(?:es)?|article|thread)/", re.IGNORECASE)
_X_ID = re.compile(r"/(?:status(?:es)?|article|thread)/(\d{1,25})", re.IGNORECASE)
_REDDIT_POST = re.compile(r"/comments/([a-z0-9]{1,12})", re.IGNORECASE)
_SUBREDDIT = re.compile(r"/(?:r|u|user)/([A-Za-z0-9_.-]{1,60})(?:/|$)")
_VIDEO_PATH = re.compile(r"^/(?:shorts|live|embed|v)/([A-Za-z0-9_-]{5,20})")
_VIDEO_ID = re.compile(r"^[A-Za-z0-9_-]{5,20}$")


def split_url(text: str) -> SplitResult | None:
    """Return the parts of an http(s) URL, None when the text is anything else."""
    text = text.strip()
    if not text.lower().startswith(("http://", "https://")) or any(c.isspace() for c in text):
        return None
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:  # `http://[`: brackets that never close
        return None
    return parts if host else None


def as_url(text: str | None) -> str | None:
    """Return the http(s) URL as written, without `<` `>` around it, or None."""
    if not text:
        return None
    text = text.strip()
    if text.startswith("<") and text.endswith(">"):
        text = text[1:-1].strip()
    return text if split_url(text) else None


def host_of(url: str | None) -> str | None:
    """Return the host of an http(s) URL in lower case, None for anything else."""
    parts = split_url(url) if url else None
    return parts.hostname if parts else None


def site_of(url: str | None) -> str | None:
    """Return the host without `www.`: how people name a site."""
    host = host_of(url)
    return host.removeprefix("www.") if host else None


def source_named(text: str | None) -> Source | None:
    """Return the source that a frontmatter value names, in any case."""
    wanted = text.strip().lower() if text else ""
    return next((name for name in SOURCES if name == wanted), None)


def source_of(url: str | None) -> Source:
    """Return the source that follows from a URL's host and path; no URL is a `note`."""
    parts = split_url(url) if url else None
    if parts is None:
        return "note"
    host, path = (parts.hostname or "").lower(), parts.path
    paper = _within(host, "arxiv.org") and path.startswith("/pdf/")
    kinds: tuple[tuple[Source, bool], ...] = (
        ("x", _within(host, "x.com", "twitter.com") and bool(_X_POST.search(path))),
        ("reddit", _within(host, "reddit.com", "redd.it")),
        ("youtube", _video_id(parts) is not None),
        ("wiki", host.endswith(".wikipedia.org") and bool(path.strip("/"))),
        ("pdf", paper or path.lower().endswith(".pdf")),
    )
    return next((kind for kind, holds in kinds if holds), "web")


def _within(host: str, *domains: str) -> bool:
    return any(host == domain or host.endswith("." + domain) for domain in domains)


def video_id(url: str | None) -> str | None:
    """Return the YouTube video id of a URL, None when it is no video's."""
    parts = split_url(url) if url else None
    return _video_id(parts) if parts else None


def _video_id(parts: SplitResult) -> str | None:
    host = (parts.hostname or "").lower()
    if host == "youtu.be":
        first = parts.path.strip("/").split("/")[0]
        return first if _VIDEO_ID.match(first) else None
    if not _within(host, "youtube.com", "youtube-nocookie.com"):
        return None
    if parts.path.rstrip("/") == "/watch":
        found = parse_qs(parts.query).get("v", [""])[0]
        return found if _VIDEO_ID.match(found) else None
    match = _VIDEO_PATH.match(parts.path)
    return match.group(1) if match else None


def status_id(url: str | None) -> str | None:
    """Return the id of an X post in its URL."""
    match = _X_ID.search(url or "")
    return match.group(1) if match else None


def x_handle(url: str | None) -> str | None:
    """Return the poster's handle in an X URL; `i` is X's own placeholder, not a handle."""
    parts = split_url(url) if url else None
    match = _X_HANDLE.match(parts.path) if parts else None
    return match.group(1) if match and match.group(1).lower() != "i" else None


def reddit_ids(url: str | None) -> tuple[str, str]:
    """Return (subreddit, post id) of a Reddit URL, "" for what it does not say."""
    parts = split_url(url) if url else None
    if parts is None:
        return "", ""
    subreddit = _SUBREDDIT.search(parts.path)
    post = _REDDIT_POST.search(parts.path)
    post_id = post.group(1) if post else ""
    if not post_id and parts.hostname == "redd.it":
        post_id = parts.path.strip("/").split("/")[0]
    return (subreddit.group(1) if subreddit else ""), post_id


def thread_of(url: str | None) -> str | None:
    """Return the conversation that an X or Reddit URL is part of."""
    source = source_of(url)
    if source == "x":
        return status_id(url)
    return (reddit_ids(url)[1] or None) if source == "reddit" else None


def wiki_language(url: str | None) -> str | None:
    """Return the language code of a Wikipedia URL (`en`, `zh-yue`)."""
    first = (host_of(url) or "").split(".")[0]
    return first if first and first not in ("www", "m") else None


def obsidian_url(vault_name: str, path: str) -> str:
    """Return the `obsidian://open` address of a note, its parts percent-encoded."""
    file = path[:-3] if path.lower().endswith(".md") else path
    return f"obsidian://open?vault={_component(vault_name)}&file={_component(file)}"


def _component(text: str) -> str:
    return quote(text, safe="", errors="replace")
