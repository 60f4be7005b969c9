"""basic-memory: observations `- [category] text #tag (context)` and typed relations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from khiip_indexer.markup.marks import without_end_tags
from khiip_indexer.payloads.common import Observation, Relation
from khiip_indexer.payloads.lines import item, plain, unfenced
from khiip_indexer.shapes.base import Doc, Reading, Shape

_OBSERVATION = re.compile(r"^\[(?P<category>[^\[\]()\n]{2,60})\][ \t]+(?P<text>\S.*)$")
_CLOCK = re.compile(r"^\d{1,2}(?::\d{2}){1,2}$")
_RELATION = re.compile(
    r"^(?P<type>\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|[^\s\[\]\"]{1,60})[ \t]+"
    r"\[\[(?P<target>[^\[\]\n|#]{1,300})[^\[\]\n]{0,300}\]\][ \t]*"
    r"(?:\((?P<context>[^()\n]*)\))?[ \t]*$"
)
_CONTEXT = re.compile(r"[ \t]\((?P<context>[^()\n]{1,200})\)[ \t]*$")
_TAG = re.compile(r"(?<!\S)#([^\s#,.;:!?()]{1,80})")
_QUOTES = "\"'"
_ONLY_TAGS = re.compile(r"^#[^\s#]+(?:[ \t]+#[^\s#]+)*$")


def matches(doc: Doc) -> bool:
    if not (doc.meta.text("permalink") and doc.meta.text("type")):
        return False
    return any(_observation(text) for text in _items(doc))


def read(doc: Doc) -> Reading:
    items = _items(doc)
    observations = tuple(found for text in items if (found := _observation(text)))
    relations = tuple(typed for text in items if (typed := _relation(text)))
    title = doc.meta.text("title") or doc.stem
    return Reading(
        source="note",
        entities=(title, *(relation.target for relation in relations)),
        extra_tags=tuple(tag for observation in observations for tag in observation.tags),
        body="\n".join(_readable(doc)),
        extras={"observations": observations, "relations": relations},
    )


def _readable(doc: Doc) -> Iterator[str]:
    """Yield the body's lines with `- [fact] Says so #radio (log)` as `- fact: Says so (log)`.

    Of `- part_of [[Target]]` the type is written in words.
    """
    outside = {index for index, _ in unfenced(doc.lines)}
    for index, line in enumerate(doc.lines):
        entry = item(line) if index in outside else None
        yield _sentence(line, entry[1]) if entry else line


def _sentence(line: str, text: str) -> str:
    lead = line[: len(line) - len(text)]
    match = _OBSERVATION.match(text.strip())
    if match and not _CLOCK.match(match["category"].strip()):
        context = _CONTEXT.search(match["text"])
        said = match["text"][: context.start()] if context else match["text"]
        about = context[0] if context else ""
        return f"{lead}{match['category'].strip()}: {without_end_tags(said)}{about}"
    relation = _RELATION.match(text.strip())
    if relation:
        kind = relation["type"]
        return f"{lead}{kind.strip(_QUOTES).replace('_', ' ')}{text.strip()[len(kind) :]}"
    return line


def _items(doc: Doc) -> list[str]:
    return [entry[1].strip() for _, line in unfenced(doc.lines) if (entry := item(line))]


def _observation(text: str) -> Observation | None:
    match = _OBSERVATION.match(text) if text.startswith("[") else None
    if match is None:
        tags = tuple(_TAG.findall(text)) if _ONLY_TAGS.match(text) else ()
        return Observation(category="Note", text=text, tags=tags) if tags else None
    if _CLOCK.match(match["category"].strip()):
        return None
    body = match["text"]
    context = _CONTEXT.search(body)
    said = body[: context.start()] if context else body
    return Observation(
        category=match["category"].strip(),
        text=plain(said),
        tags=tuple(dict.fromkeys(_TAG.findall(said))),
        context=context["context"].strip() if context else None,
    )


def _relation(text: str) -> Relation | None:
    match = _RELATION.match(text)
    if match is None:
        return None
    return Relation(
        type=match["type"].strip(_QUOTES),
        target=match["target"].strip(),
        context=(match["context"] or "").strip() or None,
    )


SHAPE = Shape("basic-memory", matches, read)
