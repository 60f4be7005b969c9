"""`wiki`: Wikipedia pages as sections, references apart."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from khiip_indexer.fields.sources import wiki_language
from khiip_indexer.payloads.build import extras, finish
from khiip_indexer.payloads.common import Extras, Facts, Material, Media
from khiip_indexer.payloads.flow import flow, media_of
from khiip_indexer.payloads.project import project, tail_segments
from khiip_indexer.payloads.web import hero_image
from khiip_indexer.types import Block, Body, Segment

_SITE_SUFFIX = re.compile(
    r"\s[-–—]\s(?:w[iy]k[iy]|vik|вік|вик|ويكي|ויקי|ウィキ|维基|維基|위키|विकि|βικι)[\w\s,()，（）-]{0,40}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiSection:
    """A section's text; the lead has no heading."""

    heading: str | None
    level: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPayload(Extras):
    """A Wikipedia page; `references` are left out of vectors."""

    kind: str = "wiki"
    title: str
    sections: tuple[WikiSection, ...]
    references: tuple[str, ...]
    infobox: dict[str, str] | None
    site_name: str | None
    language: str | None
    hero_image_url: str | None
    media: tuple[Media, ...]


def page_title(title: str) -> str:
    """Return a page's title without the site's name, in any language."""
    return _SITE_SUFFIX.sub("", title).strip() or title


def build(material: Material) -> WikiPayload:
    """Return the payload of a page; its infobox is the table before the first paragraph."""
    infobox, blocks = _infobox(material.body)
    body = replace(material.body, blocks=blocks)
    common = {**extras(material), "flow": flow(body)}
    media = media_of(material.body)
    photo = next((item.url for item in media if item.type == "photo"), None)
    payload = WikiPayload(
        title=material.title,
        sections=_sections(blocks, material.body.text, material.title),
        references=(),
        infobox=infobox,
        site_name=material.reading.site_name or "Wikipedia",
        language=wiki_language(material.url) or material.meta.text("language", "lang"),
        hero_image_url=hero_image(material) or photo,
        media=media,
        page_created=material.published,
        **common,
    )
    return finish(payload, material)


def _infobox(body: Body) -> tuple[dict[str, str] | None, tuple[Block, ...]]:
    for index, block in enumerate(body.blocks):
        if block.kind == "table":
            rows = [re.split(r" \| |\t", row, maxsplit=1) for row in block.text.split("\n")]
            cells = {
                row[0].strip(): row[1].strip() for row in rows if len(row) == 2 and row[0].strip()
            }
            return cells or None, body.blocks[:index] + body.blocks[index + 1 :]
        if block.kind in ("paragraph", "heading"):
            break
    return None, body.blocks


def _sections(blocks: tuple[Block, ...], text: str, title: str) -> tuple[WikiSection, ...]:
    if not blocks:
        return (WikiSection(heading=None, level=1, text=text),) if text else ()
    found: list[tuple[str | None, int, list[str]]] = [(None, 1, [])]
    for block in blocks:
        if block.kind != "heading":
            found[-1][2].append(block.text)
        elif block.level == 1 and block.text == title and not found[-1][2]:
            continue  # the page's own title above the lead
        else:
            found.append((block.text, block.level, []))
    return tuple(
        WikiSection(heading=heading, level=level, text="\n\n".join(part).strip())
        for heading, level, part in found
    )


def primary_text(payload: WikiPayload) -> tuple[str, str]:
    """Return the lead; a page that begins with a heading has its first section for one."""
    lead = next((part.text for part in payload.sections if part.text), "")
    return lead, "sections"


def embed_text(payload: WikiPayload, facts: Facts) -> str:
    contents = ", ".join(part.heading for part in payload.sections if part.heading)
    return project(facts, primary_text(payload)[0], more=[contents])


def segments(payload: WikiPayload) -> Iterable[Segment]:
    yield from payload.flow
    if payload.infobox:
        yield Segment("\n".join(f"{key}: {value}" for key, value in payload.infobox.items()))
    yield from tail_segments(payload)
