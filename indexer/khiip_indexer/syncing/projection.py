"""A note's bytes to everything the index stores of it. Pure, given the tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from khiip_indexer import payloads
from khiip_indexer.captures import read_capture
from khiip_indexer.disk.note_hash import content_hash
from khiip_indexer.lexical.document import document
from khiip_indexer.passages import cut_passages, fit
from khiip_indexer.store import Projected
from khiip_indexer.types import Capture, Fingerprint, NoteFile, Passage, Segment, Spans

EXCERPT_CHARS = 500


@dataclass(frozen=True, slots=True)
class Window:
    """How a model sees text: `spans` gives word pieces, `size` is its limit in tokens."""

    spans: Callable[[str], Spans]
    size: int


def project(
    note: NoteFile,
    fingerprint: Fingerprint,
    vault_name: str,
    window: Window,
) -> Projected:
    """Read a note into its capture, payload, excerpt and passages."""
    capture = read_capture(note, vault_name)
    primary, excerpt_from = payloads.primary_text(capture)
    parts = payloads.segments(capture)
    return Projected(
        capture=capture,
        payload_json=payloads.payload_json(capture.payload),
        excerpt=excerpt(primary),
        excerpt_from=excerpt_from,
        passages=passages_of(capture, window, parts),
        fingerprint=fingerprint,
        content_hash=content_hash(note.raw),
        edited=int((note.dates.git_last or note.dates.mtime).timestamp()),
        texts=document(capture, parts),
    )


def excerpt(text: str, chars: int = EXCERPT_CHARS) -> str:
    """The first `chars` code points, followed by one `…` only when there was more."""
    return text if len(text) <= chars else f"{text[:chars]}…"


def passages_of(capture: Capture, window: Window, parts: Iterable[Segment]) -> Sequence[Passage]:
    """The embed text as passage 0, then whatever of the capture it does not hold."""
    head, _ = fit(payloads.embed_text(capture), window.spans, window.size)
    left = _not_in(head, parts)
    rest = cut_passages(capture.title, left, window.spans, window.size)
    return [Passage(0, head), *rest]


def _not_in(head: str, segments: Iterable[Segment]) -> Iterator[Segment]:
    held = _flat(head)
    for segment in segments:
        if (text := _flat(segment.text)) and text not in held:
            yield segment


def _flat(text: str) -> str:
    return " ".join(text.split())
