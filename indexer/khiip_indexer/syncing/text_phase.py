"""Makes notes searchable: read, project, and store them a batch at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from khiip_indexer import store
from khiip_indexer.errors import NotFound, VaultError
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import settle
from khiip_indexer.storage.texts import put_texts
from khiip_indexer.syncing.projection import Window, project
from khiip_indexer.types import Fingerprint, NoteFile, Problem

if TYPE_CHECKING:
    from khiip_indexer.disk.ages import Ages
    from khiip_indexer.lexical.document import Texts

BATCH = 64
BATCH_BYTES = 1024 * 1024
FileSeen = tuple[str, Fingerprint]
Move = tuple[str, str, Fingerprint]
Outcome = store.Projected | Problem | None


class TextPhase:
    """Writes captures; each batch is one transaction, so a note is stored whole or not at all."""

    def __init__(self, index: VaultIndex, model: str, window: Window, ages: Ages) -> None:
        self._index = index
        self._model = model
        self._window = window
        self._ages = ages

    def run(
        self,
        files: Sequence[FileSeen],
        moved: Sequence[Move],
        removed: Sequence[str],
        watch: Callable[[int, int, str | None], bool],
    ) -> list[Problem]:
        """Take in moves, then files, then deletions; stops between batches when `watch` says so."""
        problems = self._write(partial(self._move, moved=moved))
        done = 0
        for some in batches(files):
            if not watch(done, len(files), some[0][0]):
                return problems
            batch = self._project(some)
            problems += self._write(partial(self._put, batch=batch))
            done += len(some)
        watch(len(files), len(files), None)
        self._write(partial(self._remove, removed=removed), last=True)
        return problems

    def _write(
        self, change: Callable[[sqlite3.Connection], list[Problem]], *, last: bool = False
    ) -> list[Problem]:
        """One transaction; until the last one, chains are marked as not settled yet."""
        with self._index.database.write() as connection:
            problems = change(connection)
            if last:
                settle.settle_heads(connection)
                connection.execute("DELETE FROM meta WHERE key = 'chains'")
            else:
                store.put_meta(connection, "chains", "stale")
        return problems

    def _project(self, files: Sequence[FileSeen]) -> list[Outcome]:
        return [self._project_one(path, seen) for path, seen in files]

    def _project_one(self, path: str, seen: Fingerprint) -> Outcome:
        try:
            raw, cut = self._index.vault.read(path)
        except NotFound:
            return None  # deleted since the scan: the next one will see it
        except VaultError as error:
            return Problem(path, error.code, error.sentence, hint=error.hint)
        dates = self._ages.of(self._index.database.read(), path, seen)
        projected = project(
            NoteFile(path, raw, dates),
            seen,
            self._index.settings.vault_name,
            self._window,
        )
        return _with_problem(projected, _too_large(path)) if cut else projected

    def _put(
        self, connection: sqlite3.Connection, batch: Iterable[Outcome], *, moved: bool = False
    ) -> list[Problem]:
        problems: list[Problem] = []
        touched: set[str] = set()
        written: dict[int, Texts] = {}
        for item in batch:
            if item is None:
                continue
            if isinstance(item, Problem):
                # What was stored of the note stays: it may be readable again in a moment.
                store.put_problems(connection, item.path, "file", [item])
                problems.append(item)
                continue
            path = item.capture.path
            touched |= store.ids_at(connection, path)
            store.put_problems(connection, path, "file", [])
            written[store.put(connection, self._model, item, moved=moved)] = item.texts
            touched |= store.ids_at(connection, path)
            problems += item.capture.problems
        put_texts(connection, written)
        settle.settle_ids(connection, touched)
        return problems

    def _move(self, connection: sqlite3.Connection, moved: Sequence[Move]) -> list[Problem]:
        touched: set[str] = set()
        for old, new, _ in moved:
            touched |= store.ids_at(connection, old)
            store.move(connection, old, new)
        batch = self._project([(new, seen) for _, new, seen in moved])
        problems = self._put(connection, batch, moved=True)
        settle.settle_ids(connection, touched)
        return problems

    def _remove(self, connection: sqlite3.Connection, removed: Sequence[str]) -> list[Problem]:
        touched: set[str] = set()
        for path in removed:
            touched |= store.ids_at(connection, path)
            store.remove(connection, self._model, path)
        settle.settle_ids(connection, touched)
        return []


def batches(files: Iterable[FileSeen]) -> Iterator[list[FileSeen]]:
    """Files a transaction each: few enough to be searchable soon, small enough for the memory."""
    batch: list[FileSeen] = []
    size = 0
    for file in files:
        if batch and (len(batch) == BATCH or size + file[1].size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file[1].size
    if batch:
        yield batch


def _too_large(path: str) -> Problem:
    return Problem(
        path=path,
        code="too_large",
        reason="the file is too large; only its beginning is indexed",
        hint="Split the note, or exclude it.",
    )


def _with_problem(projected: store.Projected, problem: Problem) -> store.Projected:
    capture = replace(projected.capture, problems=(*projected.capture.problems, problem))
    return replace(projected, capture=capture)
