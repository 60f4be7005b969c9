"""A parsed body as segments, media, links and tasks: what payloads need of it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from khiip_indexer.fields.sources import host_of, split_url, video_id
from khiip_indexer.markup.blocks import join_blocks
from khiip_indexer.markup.marks import tags_only
from khiip_indexer.payloads.common import (
    CalloutItem,
    HeadingItem,
    Highlight,
    LinkItem,
    Media,
    MediaType,
    TaskItem,
    task_item,
)
from khiip_indexer.types import Block, Body, Link, Segment

_TYPES: dict[str, MediaType] = {
    **dict.fromkeys(("png", "jpg", "jpeg", "webp", "svg", "avif", "bmp", "heic", "tiff"), "photo"),
    "gif": "gif",
    **dict.fromkeys(("mp4", "mov", "webm", "mkv", "m4v", "ogv"), "video"),
    **dict.fromkeys(("mp3", "m4a", "wav", "ogg", "flac", "opus", "3gp"), "audio"),
    **dict.fromkeys(("pdf", "docx", "epub", "pptx", "xlsx", "doc"), "document"),
}
_SPACE = re.compile(r"\s+")


def flow(body: Body) -> tuple[Segment, ...]:
    """Return the body's text in order, each stretch with the headings above it and its line."""
    return tuple(_walk(body.blocks)) if body.blocks else _whole(body.text)


def _whole(text: str) -> tuple[Segment, ...]:
    return (Segment(text),) if text.strip() else ()


def _walk(blocks: Iterable[Block]) -> Iterable[Segment]:
    path: list[tuple[int, str]] = []
    bare: Block | None = None  # a heading under which nothing has stood yet
    for block in blocks:
        if block.kind == "rule" or not block.text.strip():
            continue
        if block.kind != "heading":
            bare = None
            yield Segment(block.text, tuple(text for _, text in path), block.line)
            continue
        if bare is not None and bare.level >= block.level:
            yield _alone(bare, path)
        while path and path[-1][0] >= block.level:
            path.pop()
        path.append((block.level, block.text))
        bare = block
    if bare is not None:
        yield _alone(bare, path)


def _alone(heading: Block, path: list[tuple[int, str]]) -> Segment:
    """Return a heading without text as a text of its own: it would be found nowhere else."""
    return Segment(heading.text, tuple(text for _, text in path[:-1]), heading.line)


def media_of(body: Body) -> tuple[Media, ...]:
    """Return what the body embeds: pictures, sound, video, documents, players."""
    found: dict[str, Media] = {}
    for link in body.links:
        kind = media_type(link.target, link.external) if link.embed else None
        if kind is None or link.target.startswith("data:"):
            continue
        found.setdefault(link.target, _media(link, kind))
    return tuple(found.values())


def _media(link: Link, kind: MediaType) -> Media:
    alt = link.display if link.display and not link.display.isdigit() else None
    if link.external:
        return Media(url=link.target, type=kind, alt_text=alt)
    return Media(
        url=link.target,
        type=kind,
        local_path=link.target,
        download_status="downloaded",
        alt_text=alt,
    )


def media_type(target: str, external: bool = True) -> MediaType | None:
    """Return what kind of media an embed's target is; None for an embedded note."""
    parts = split_url(target)
    name = (parts.path if parts else target).rsplit("/", 1)[-1]
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if ending in _TYPES:
        return _TYPES[ending]
    if not external:
        return None
    host = host_of(target) or ""
    player = video_id(target) or host.endswith(("x.com", "twitter.com", "vimeo.com"))
    return "embed" if player else "photo"


def link_items(body: Body, left_out: Iterable[str] = ()) -> tuple[LinkItem, ...]:
    """Return the links to other notes and files, without pictures and without repeats."""
    skip = set(left_out)
    found: dict[tuple[str, str | None, str | None, str | None], LinkItem] = {}
    for link in body.links:
        if link.external or link.target in skip or not (link.target or link.heading or link.block):
            continue
        key = (link.target, link.heading, link.block, link.display)
        found.setdefault(
            key,
            LinkItem(
                target=link.target,
                display=link.display,
                heading=link.heading,
                block=link.block,
                embed=link.embed,
            ),
        )
    return tuple(found.values())


def heading_items(body: Body) -> tuple[HeadingItem, ...]:
    """Return the headings with their levels and file lines."""
    return tuple(HeadingItem(level=h.level, text=h.text, line=h.line) for h in body.headings)


def task_items(body: Body, lanes: Mapping[int, str]) -> tuple[TaskItem, ...]:
    """Return the tasks; `lanes` gives a task's state by its file line."""
    return tuple(task_item(task, lanes.get(task.line)) for task in body.tasks)


def field_items(body: Body) -> dict[str, str | list[str]]:
    """Return the inline fields: one value as text, a repeated key as a list.

    A task's `[due:: …]` is the task's, not the note's.
    """
    due = {task.due for task in body.tasks}
    found: dict[str, str | list[str]] = {}
    for key, values in body.fields.items():
        own = [text for text in values if key.lower() != "due" or text not in due]
        if own:
            found[key] = own[0] if len(own) == 1 else own
    return found


def callout_items(body: Body) -> tuple[CalloutItem, ...]:
    """Return the callouts with their kind and whether they are folded."""
    return tuple(
        CalloutItem(
            kind=c.kind, title=c.title, text=c.text, line=c.line, meta=c.meta, folded=c.fold == "-"
        )
        for c in body.callouts
    )


def marks(body: Body) -> tuple[Highlight, ...]:
    """Return the `==marks==` of the running text."""
    return tuple(Highlight(text=text) for text in body.highlights)


def highlight_segments(highlights: Iterable[Highlight]) -> Iterable[Segment]:
    """Yield the highlights that stand outside the running text, each with its note and tags."""
    for mark in highlights:
        parts = [mark.title, mark.text, mark.note]
        text = "\n".join(part for part in parts if part)
        if mark.line is not None and text:
            yield Segment(text, (), mark.line)


def highlights_text(highlights: Iterable[Highlight]) -> str:
    """Return the highlights' texts, a blank line between them."""
    return "\n\n".join(mark.text for mark in highlights if mark.text)


def begins(text: str, start: str | None) -> bool:
    """Say whether `start` is the cut beginning of `text`; clippers end the cut in `...`."""
    if not start:
        return False
    cut = _SPACE.sub(" ", start).strip().removesuffix("...").removesuffix("…").strip()
    head = _SPACE.sub(" ", text[: 4 * len(start) + 200]).strip()
    return bool(cut) and head.startswith(cut)


def below_title(body: Body, title: str) -> tuple[Block, ...]:
    """Return the blocks without a level-1 heading at the beginning that only repeats the title."""
    for index, block in enumerate(body.blocks):
        if repeats_title(block, title):
            return body.blocks[:index] + body.blocks[index + 1 :]
        if block.text.strip():
            break
    return body.blocks


def repeats_title(block: Block, title: str) -> bool:
    """Say whether a block is a level-1 heading that says what the title says."""
    is_top = block.kind == "heading" and block.level == 1
    return is_top and _folded(block.text) == _folded(title)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def body_text(body: Body, title: str) -> str:
    """Return the body's text, not beginning with a repetition of the title."""
    return join_blocks(below_title(body, title)).strip() if body.blocks else body.text.strip()


def without_tag_lines(body: Body) -> Body:
    """Return the body without lines that hold nothing but tags; its `tags` still say them."""
    if not any(block.kind == "paragraph" and "#" in block.text for block in body.blocks):
        return body
    kept = tuple(block for old in body.blocks if (block := _untagged(old)))
    return replace(body, blocks=kept, text=join_blocks(kept))


def _untagged(block: Block) -> Block | None:
    if block.kind != "paragraph" or "#" not in block.text:
        return block
    lines = block.text.split("\n")
    kept = [line for line in lines if not tags_only(line)]
    if len(kept) == len(lines):
        return block
    above = next((i for i, line in enumerate(lines) if not tags_only(line)), 0)
    return replace(block, text="\n".join(kept), line=block.line + above) if kept else None


def own_words(body: Body, title: str) -> str:
    """Return the body's text without any level-1 heading that only repeats the title."""
    if not body.blocks:
        return body.text.strip()
    return join_blocks(block for block in body.blocks if not repeats_title(block, title)).strip()


def with_highlights(body: Body, title: str, highlights: Iterable[Highlight]) -> str:
    """Return the text of a page with saved highlights: those, then what else was written."""
    own = own_words(body, title)
    apart = [mark for mark in highlights if mark.text and mark.text not in own]
    return "\n\n".join(part for part in (highlights_text(apart), own) if part)


def reader_notes(highlights: Iterable[Highlight], limit: int = 8) -> list[str]:
    """Return what the reader wrote beside the first marks."""
    return [mark.note for mark in highlights if mark.note][:limit]
