"""`reddit`: posts with their comment trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from khiip_indexer.fields.sources import as_url, host_of, reddit_ids
from khiip_indexer.payloads.build import engagement, extras, finish
from khiip_indexer.payloads.common import Comment, Engagement, Extras, Facts, Material, Media
from khiip_indexer.payloads.flow import body_text, media_of
from khiip_indexer.payloads.lines import number, plain
from khiip_indexer.payloads.project import project, tail_segments
from khiip_indexer.payloads.threads import walk
from khiip_indexer.types import Segment

PostType = Literal["text", "link", "image", "video", "gallery", "poll"]
POST_TYPES: tuple[PostType, ...] = ("text", "link", "image", "video", "gallery", "poll")
EMBED_COMMENTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class RedditPayload(Extras):
    """A Reddit post; `comments` is the tree, `body_text` the post's own text."""

    kind: str = "reddit"
    post_id: str
    title: str
    post_type: PostType
    body_text: str | None
    link_url: str | None
    subreddit: str
    flair: str | None
    author_username: str | None
    engagement: Engagement | None
    media: tuple[Media, ...]
    urls: tuple[str, ...]
    comments: tuple[Comment, ...]
    comment_count_total: int | None


def build(material: Material) -> RedditPayload:
    """Return the payload of a Reddit post."""
    meta, body = material.meta, material.body
    subreddit, post_id = reddit_ids(material.url)
    media = media_of(body)
    link = _link(material)
    payload = RedditPayload(
        post_id=post_id or meta.text("post_id") or "",
        title=material.title,
        post_type=_post_type(material, media, link),
        body_text=body_text(body, material.title),
        link_url=link,
        subreddit=subreddit or (meta.text("subreddit") or "").removeprefix("r/"),
        flair=meta.text("flair", "link_flair_text"),
        author_username=material.authors[0] if material.authors else None,
        engagement=engagement(material),
        media=media,
        urls=body.urls,
        comment_count_total=number(meta.text("num_comments", "comment_count")),
        **extras(material),
    )
    return finish(payload, material)


def _link(material: Material) -> str | None:
    """Return where a link post leads: what the frontmatter says, or a body that is only a link."""
    written = as_url(material.meta.text("link_url", "external_url"))
    if written:
        return written
    urls, text = material.body.urls, material.body.text.strip()
    alone = len(urls) == 1 and "\n" not in text and (text == urls[0] or len(text) < 100)
    outside = alone and "reddit" not in (host_of(urls[0]) or "")
    return urls[0] if outside and (text == urls[0] or not text) else None


def _post_type(material: Material, media: tuple[Media, ...], link: str | None) -> PostType:
    written = (material.meta.text("post_type") or "").lower()
    for kind in POST_TYPES:
        if kind == written:
            return kind
    if link:
        return "link"
    if media and not material.body.text.strip():
        videos = any(item.type in ("video", "gif") for item in media)
        return "video" if videos else ("gallery" if len(media) > 1 else "image")
    return "text"


def primary_text(payload: RedditPayload) -> tuple[str, str]:
    return payload.body_text or "", "body_text"


def embed_text(payload: RedditPayload, facts: Facts) -> str:
    said = [
        plain(c.body_markdown)
        for _, c in zip(range(EMBED_COMMENTS), walk(payload.comments), strict=False)
    ]
    place = f"r/{payload.subreddit}" if payload.subreddit else None
    return project(facts, payload.body_text or "", more=[place, *said])


def segments(payload: RedditPayload) -> Iterable[Segment]:
    yield from payload.flow
    yield from tail_segments(payload)
