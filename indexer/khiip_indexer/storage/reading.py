"""Asks the cache: captures, their texts, what is wrong, how many there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from khiip_indexer.errors import IndexMissing, VaultError
from khiip_indexer.records import CaptureRecord, Filters
from khiip_indexer.storage import queries
from khiip_indexer.storage.coming import under_way
from khiip_indexer.storage.database import Database, translated
from khiip_indexer.storage.memo import Memo
from khiip_indexer.store import get_meta, identity_of
from khiip_indexer.types import ModelIdentity, Problem

if TYPE_CHECKING:
    from khiip_indexer.storage.threads import Threads


class CacheReader:
    """What the cache knows, from any thread; damage is raised as StorageError."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._memo = Memo()
        self._vault_id = ""
        self._model_text: str | None = None
        self._model: ModelIdentity | None = None

    def _read(self) -> sqlite3.Connection:
        return self.database.read()

    @property
    def vault_id(self) -> str:
        """The vault's own name among sidecars; stable as long as its index lives."""
        with suppress(IndexMissing, VaultError):  # deleted meanwhile, or its drive is away
            self._vault_id = self.meta("vault_id") or self._vault_id
        return self._vault_id

    def meta(self, key: str) -> str | None:
        """A single remembered value."""
        with translated(self.database.path):
            return get_meta(self._read(), key)

    def model(self) -> ModelIdentity | None:
        """The model that made the vectors, or None before the first one."""
        known = self.meta("model")
        if known != self._model_text:
            self._model_text = known
            self._model = identity_of(known) if known else None
        return self._model

    def coming(self) -> tuple[ModelIdentity | None, tuple[int, int]]:
        """The model that is to take over, if one is on its way; of its texts, (done, all)."""
        return under_way(self._read())

    def records(self, rows: Sequence[int]) -> dict[int, CaptureRecord]:
        """The captures of these rows."""
        with translated(self.database.path):
            return queries.by_rows(self._read(), rows)

    def page(self, filters: Filters, *, limit: int | None, offset: int = 0) -> list[CaptureRecord]:
        """Captures that the filters let in, newest first."""
        with translated(self.database.path):
            return self._with_failures(queries.page(self._read(), filters, limit, offset))

    def capture(self, capture_id: str) -> CaptureRecord | None:
        """The capture with this id."""
        with translated(self.database.path):
            return self._completed(queries.by_id(self._read(), capture_id))

    def capture_at(self, path: str) -> CaptureRecord | None:
        """The capture of the note at this vault-relative path."""
        with translated(self.database.path):
            return self._completed(queries.by_path(self._read(), path))

    def _completed(self, record: CaptureRecord | None) -> CaptureRecord | None:
        return self._with_failures([record])[0] if record else None

    def _with_failures(self, records: Iterable[CaptureRecord]) -> list[CaptureRecord]:
        model = self.meta("model_key")
        rows = list(records)
        connection = self._read()
        if model is None or connection.execute("SELECT 1 FROM failures").fetchone() is None:
            return rows
        failures = queries.failures(connection, model, [each.row for each in rows])
        return [_failed(each, failures.get(each.row)) for each in rows]

    def payload(self, record: CaptureRecord) -> str:
        """The payload's JSON text, exactly as the full view sends it."""
        return self.payloads([record]).get(record.row, "null")

    def payloads(self, records: Iterable[CaptureRecord]) -> dict[int, str]:
        """The payloads of these captures as `payload` gives them, by row."""
        with translated(self.database.path):
            return queries.payloads(self._read(), [each.row for each in records])

    def embed_text(self, record: CaptureRecord) -> str:
        """The text of the capture's first vector."""
        with translated(self.database.path):
            return queries.embed_text(self._read(), record.row)

    def problems(self, *, limit: int | None = None, path: str | None = None) -> list[Problem]:
        """What is wrong, by path and line."""
        with translated(self.database.path):
            return queries.problems(self._read(), path=path, limit=limit)

    def problems_of(self, records: Iterable[CaptureRecord]) -> dict[str, list[Problem]]:
        """What is wrong with the notes of these captures, by path; sound ones are left out."""
        with translated(self.database.path):
            return queries.problems_at(self._read(), [each.vault_path for each in records])

    def threads(self) -> Threads:
        """Which notes stand next to each other in a thread; made once a change."""
        from khiip_indexer.storage.threads import Threads

        connection = self._read()
        with translated(self.database.path):
            return self._memo.get(connection, "threads", lambda: Threads(connection))

    def total(self, filters: Filters) -> int:
        """How many captures the filters let in."""
        connection = self._read()
        with translated(self.database.path):
            return self._memo.get(connection, filters, lambda: queries.count(connection, filters))


def _failed(record: CaptureRecord, failure: tuple[str, int] | None) -> CaptureRecord:
    if failure is None:
        return record
    reason, attempts = failure
    return replace(
        record,
        extraction_status="failed-permanent"
        if attempts >= queries.MAX_ATTEMPTS
        else "pending-retry",
        extraction_error=reason,
        extraction_attempts=attempts,
    )
