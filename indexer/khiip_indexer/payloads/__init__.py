"""Typed payloads, one file a source; this table is the only list of the kinds there are."""

from __future__ import annotations

from types import ModuleType
from typing import cast

from khiip_indexer.payloads import note, pdf, reddit, web, wiki, x, youtube
from khiip_indexer.payloads.common import Facts, Material
from khiip_indexer.payloads.note import NotePayload
from khiip_indexer.payloads.pdf import PdfPayload
from khiip_indexer.payloads.reddit import RedditPayload
from khiip_indexer.payloads.web import WebPayload
from khiip_indexer.payloads.wiki import WikiPayload
from khiip_indexer.payloads.wire import payload_json
from khiip_indexer.payloads.x import XPayload
from khiip_indexer.payloads.youtube import YouTubePayload
from khiip_indexer.types import Capture, Payload, Segment

__all__ = [
    "NotePayload",
    "PdfPayload",
    "RedditPayload",
    "WebPayload",
    "WikiPayload",
    "XPayload",
    "YouTubePayload",
    "build",
    "embed_text",
    "payload_json",
    "primary_text",
    "segments",
]

KINDS: dict[str, ModuleType] = {
    "x": x,
    "reddit": reddit,
    "web": web,
    "wiki": wiki,
    "youtube": youtube,
    "pdf": pdf,
    "note": note,
}


def build(kind: str, material: Material) -> Payload:
    """Return the payload of a source; the kinds are the capture's sources."""
    return cast(Payload, KINDS[kind].build(material))


def primary_text(capture: Capture) -> tuple[str, str]:
    """Return (text for the excerpt, the name of the payload's field it comes from)."""
    text, origin = cast("tuple[str, str]", _module(capture).primary_text(capture.payload))
    return (text, origin) if text else ("", origin)


def embed_text(capture: Capture) -> str:
    """Return the text of the capture's first vector: a projection, the same for the same note."""
    facts = Facts(
        title=capture.title,
        author=capture.author,
        description=capture.description,
        entities=capture.entities,
    )
    return cast(str, _module(capture).embed_text(capture.payload, facts))


def segments(capture: Capture) -> list[Segment]:
    """Return all of the capture's text in order, to be cut into passages."""
    return [part for part in _module(capture).segments(capture.payload) if part.text.strip()]


def _module(capture: Capture) -> ModuleType:
    return KINDS[capture.payload.kind]
