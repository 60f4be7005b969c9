"""What a note is about: declared entities, links in the frontmatter, links in the body; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from khiip_indexer.fields.checks import PLACEHOLDER
from khiip_indexer.fields.metadata import Meta, normal_key, wikilink_parts
from khiip_indexer.types import Body, Value

ENTITY_KEYS = ("entity", "entities", "about", "project", "people")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]{1,500}\]\]")
# Names of daily, weekly, monthly and quarterly notes.
_PERIOD = re.compile(r"^\d{4}-(?:\d{2}(?:-\d{2})?|W\d{2}|Q\d)$")
_FILE = re.compile(r"\.(?!md$)[A-Za-z][A-Za-z0-9]{1,4}$")
_NOT_ABOUT = frozenset({"supersededby", "supersedes", "aliases", "alias", "cssclasses"})


def entities(
    meta: Meta, metadata: dict[str, Value], body: Body, more: Iterable[str], left_out: Iterable[str]
) -> tuple[str, ...]:
    """Return the entities: declared ones, then the targets of links, each name once.

    Pictures, days, weeks, months, templates' placeholders and links within the note are none.
    """
    found: dict[str, str] = {}
    skip = {_fold(name) for name in left_out}
    for name in (*_declared(meta), *more, *_property_links(metadata), *_body_links(body)):
        key = _fold(name)
        if name and key not in skip and not PLACEHOLDER.search(name):
            found.setdefault(key, name)
    return tuple(found.values())


def _fold(name: str) -> str:
    return " ".join(name.casefold().split())


def _declared(meta: Meta) -> Iterator[str]:
    for key in ENTITY_KEYS:
        for name in meta.tags(key) if not _linked(meta, key) else meta.texts(key):
            yield from _targets(name)


def _linked(meta: Meta, key: str) -> bool:
    return any("[[" in text for text in meta.texts(key))


def _targets(text: str) -> Iterator[str]:
    """Yield the targets of the links in a text, the text itself when it has none."""
    links = _WIKILINK.findall(text)
    for link in links:
        yield note_name(wikilink_parts(link)[0])
    if not links and text.strip():
        yield text.strip()


def _property_links(metadata: dict[str, Value]) -> Iterator[str]:
    for key, value in metadata.items():
        if normal_key(key) in _NOT_ABOUT:
            continue
        for text in texts(value):
            for link in _WIKILINK.findall(text) if "[[" in text else ():
                name = note_name(wikilink_parts(link)[0]).removeprefix("@")
                if is_name(name):
                    yield name


def _body_links(body: Body) -> Iterator[str]:
    for link in body.links:
        if not link.external and not (link.embed and _FILE.search(link.target)):
            name = note_name(link.target)
            if is_name(name):
                yield name


def note_name(target: str) -> str:
    """Return a link target's note name: no folders, no `.md`."""
    name = target.strip().rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") else name


def is_name(name: str) -> bool:
    """Say whether a link's target can be what a note is about: no day or month, no picture."""
    return bool(name) and not _PERIOD.match(name) and not _picture(name)


def _picture(name: str) -> bool:
    return name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".base"))


def texts(value: Value) -> Iterator[str]:
    """Yield every text inside a frontmatter value, whatever it is nested in."""
    waiting: list[Value] = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            waiting.extend(reversed(part))
        elif isinstance(part, dict):
            waiting.extend(reversed(list(part.values())))
