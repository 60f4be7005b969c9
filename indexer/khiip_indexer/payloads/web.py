"""`web`: articles, posts of other networks, AI chats, podcasts: any page with a URL."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from khiip_indexer.fields.sources import as_url, site_of
from khiip_indexer.payloads.build import extras, finish
from khiip_indexer.payloads.common import Extras, Facts, Material, Media
from khiip_indexer.payloads.flow import body_text, media_of, reader_notes, with_highlights
from khiip_indexer.payloads.project import project, tail_segments
from khiip_indexer.types import Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPayload(Extras):
    """A page of the web."""

    kind: str = "web"
    title: str
    body_text: str
    description: str | None
    hero_image_url: str | None
    site_name: str | None
    author_url: str | None
    section: str | None
    tags: tuple[str, ...]
    article_type: str | None
    language: str | None
    media: tuple[Media, ...]


def build(material: Material) -> WebPayload:
    """Return the payload of a page; a page of which only highlights were saved is those."""
    meta, reading = material.meta, material.reading
    payload = WebPayload(
        title=material.title,
        body_text=_text(material),
        description=material.description,
        hero_image_url=hero_image(material),
        site_name=reading.site_name or site_name(material),
        author_url=as_url(meta.text("author_url", "author_link")),
        section=meta.text("section"),
        tags=material.tags,
        article_type=meta.text("article_type", "og_type"),
        language=meta.text("language", "lang"),
        media=media_of(material.body),
        **extras(material),
    )
    return finish(payload, material)


def _text(material: Material) -> str:
    marks, title = material.reading.highlights, material.title
    body = material.body
    return with_highlights(body, title, marks) if marks else body_text(body, title)


def hero_image(material: Material) -> str | None:
    """Return the picture that the frontmatter names for the page."""
    return as_url(material.meta.text("image", "cover", "hero_image_url", "hero_image", "thumbnail"))


def site_name(material: Material) -> str | None:
    """Return the site's name as written, else its host."""
    written = material.meta.text("site_name", "site", "publisher", "publication")
    return written or site_of(material.url)


def primary_text(payload: WebPayload) -> tuple[str, str]:
    return payload.body_text, "body_text"


def embed_text(payload: WebPayload, facts: Facts) -> str:
    if facts.author is None and payload.site_name:
        facts = replace(facts, author=payload.site_name)
    notes = reader_notes(payload.highlights)
    return project(facts, payload.body_text, properties=payload.properties, more=notes)


def segments(payload: WebPayload) -> Iterable[Segment]:
    yield from payload.flow
    yield from tail_segments(payload)
