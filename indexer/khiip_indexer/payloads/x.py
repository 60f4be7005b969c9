"""`x`: posts, threads and articles of X (Twitter)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from khiip_indexer.fields.sources import status_id, x_handle
from khiip_indexer.payloads.build import engagement, extras, finish
from khiip_indexer.payloads.common import Comment, Engagement, Extras, Facts, Material, Media
from khiip_indexer.payloads.flow import highlights_text, media_of, media_type
from khiip_indexer.payloads.posts import Quoted, Thread, read_thread
from khiip_indexer.payloads.project import comment_segments, project, tail_segments
from khiip_indexer.types import Segment

_HASHTAG = re.compile(r"(?<![\w&/])#(\w*[^\W\d_]\w*)")
_MENTION = re.compile(r"(?<![\w@/.])@([A-Za-z0-9_]{1,20})\b")
_GENERIC_TITLE = re.compile(
    r"^(?:Post|Thread|Tweet) by @?\S+(?: on (?:X|Twitter))?$", re.IGNORECASE
)
PREVIEW_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    id: str
    title: str
    preview: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class XPayload(Extras):
    """A post, or a thread's posts joined; `quoted_tweet` is the post that it quotes."""

    kind: str = "x"
    handle: str | None = None
    text: str | None = None
    hashtags: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    engagement: Engagement | None = None
    quoted_tweet: XPayload | None = None
    in_reply_to_tweet_id: str | None = None
    article: Article | None = None
    community_note: str | None = None
    media: tuple[Media, ...] = ()
    urls: tuple[str, ...] = ()
    top_replies: tuple[Comment, ...] = ()


def build(material: Material) -> XPayload:
    """Return the payload of a post or thread."""
    handle = x_handle(material.url) or _handle(material.authors)
    thread = read_thread(material.markdown, handle, material.first_line)
    text = thread.text or highlights_text(material.reading.highlights)
    common = extras(material)
    common["flow"] = tuple(
        Segment(t, (), n) for t, n in zip(thread.texts, thread.lines, strict=True)
    )
    payload = XPayload(
        handle=handle or (thread.replies[0].author if not text and thread.replies else None),
        text=text or None,
        hashtags=found(_HASHTAG, text),
        mentions=found(_MENTION, text),
        engagement=engagement(material),
        quoted_tweet=_quoted(thread.quoted),
        in_reply_to_tweet_id=thread.in_reply_to,
        article=_article(material, thread, text),
        community_note=thread.community_note,
        media=_media(thread, material),
        urls=tuple(dict.fromkeys(url for url in thread.links if x_link(url))),
        top_replies=tuple(thread.replies),
        status_id=status_id(material.url),
        **common,
    )
    return finish(payload, material)


def _handle(authors: tuple[str, ...]) -> str | None:
    first = authors[0] if authors else ""
    return first if re.fullmatch(r"[A-Za-z0-9_]{1,20}", first) else None


def found(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """Return the first group of every match, without repeats."""
    return tuple(dict.fromkeys(pattern.findall(text)))


def x_link(url: str) -> bool:
    """Say whether a link leads somewhere: not to a hashtag's search or a profile."""
    own = re.match(r"https?://(?:\w+\.)?(?:x|twitter)\.com/(?:hashtag/\S*|search\S*|\w+/?)$", url)
    return own is None


def _quoted(quoted: Quoted | None) -> XPayload | None:
    if quoted is None:
        return None
    return XPayload(
        handle=quoted.handle,
        text=quoted.text,
        hashtags=found(_HASHTAG, quoted.text),
        mentions=found(_MENTION, quoted.text),
        posted_at=quoted.posted_at,
        url=quoted.url,
        status_id=status_id(quoted.url),
    )


def _article(material: Material, thread: Thread, text: str) -> Article | None:
    if thread.article is None and "/article/" not in (material.url or ""):
        return None
    title = thread.article or material.title
    preview = text.removeprefix(title).strip()[:PREVIEW_CHARS]
    return Article(id=status_id(material.url) or "", title=title, preview=preview or None)


def _media(thread: Thread, material: Material) -> tuple[Media, ...]:
    shown = {media.url: media for media in media_of(material.body)}
    for url, alt in thread.pictures:
        shown.setdefault(url, Media(url=url, type=media_type(url) or "photo", alt_text=alt or None))
    for url in thread.clips:
        shown.setdefault(url, Media(url=url, type="video"))
    return tuple(shown.values())


def primary_text(payload: XPayload) -> tuple[str, str]:
    return payload.text or "", "text"


def embed_text(payload: XPayload, facts: Facts) -> str:
    quoted = payload.quoted_tweet
    more = [payload.handle, quoted.text if quoted else None, payload.community_note]
    telling = not _GENERIC_TITLE.match(facts.title)
    return project(facts, payload.text or "", title=telling, more=more)


def segments(payload: XPayload) -> Iterable[Segment]:
    yield from payload.flow
    if payload.quoted_tweet and payload.quoted_tweet.text:
        yield Segment(
            f"{payload.quoted_tweet.handle or ''}: {payload.quoted_tweet.text}".strip(": ")
        )
    if payload.community_note:
        yield Segment(payload.community_note)
    yield from comment_segments(payload.top_replies, "Replies")
    yield from tail_segments(payload)
