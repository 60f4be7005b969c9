"""What is remembered about the notes of a history: their captures, and those that name them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from khiip_indexer.fields.entity_names import entity_key
from khiip_indexer.fields.mentions import note_name
from khiip_indexer.records import CaptureRecord, Filters
from khiip_sidecar.history import FileHistory, LinkedMemory

if TYPE_CHECKING:
    from khiip_indexer.index import VaultIndex

MOST_LINKED = 20
MOST_PATHS = 20
PREVIEW_CHARS = 160


def linked_memories(
    index: VaultIndex, path: str, history: FileHistory, *, include_archived: bool = False
) -> tuple[LinkedMemory, ...]:
    """The captures of the notes themselves, then the newest that name one of them.

    `path` is the text that the history was asked for: notes that were never edited count too.
    What is not on the disk any more is left out, as of every other answer, and so is what is
    archived, unless it is asked for.
    """
    edited = [each.path for each in history.paths_matched[:MOST_PATHS]]
    own = [record for path in edited if (record := index.capture_at(path)) is not None]
    # What is archived is not shown, and still is what others name.
    for archived in (False, True):
        held = Filters(path_has=(path,), heads_only=False, include_archived=archived)
        own += [each for each in index.page(held, limit=MOST_PATHS) if each not in own]
    paths = list(dict.fromkeys([*edited, *(record.vault_path for record in own)]))[:MOST_PATHS]
    keys = {entity_key(note_name(path)): note_name(path) for path in paths}
    about = Filters(entities=tuple(keys), include_archived=include_archived)
    naming = index.page(about, limit=MOST_LINKED) if keys else []
    known = {record.id for record in own}
    found: list[tuple[CaptureRecord, str | None]] = [
        (record, None) for record in own if include_archived or not record.archived
    ]
    found += [(record, _named(record, keys)) for record in naming if record.id not in known]
    there = (each for each in found if index.vault.is_there(each[0].vault_path))
    return tuple(_linked(*each) for each in islice(there, MOST_LINKED))


def _named(record: CaptureRecord, keys: dict[str, str]) -> str | None:
    return next((each for each in record.entities if entity_key(each) in keys), None)


def _linked(record: CaptureRecord, entity: str | None) -> LinkedMemory:
    text = " ".join((record.description or record.excerpt).split())
    preview = text if len(text) <= PREVIEW_CHARS else f"{text[:PREVIEW_CHARS]}…"
    return LinkedMemory(record.id, entity or record.title, record.title, preview)
