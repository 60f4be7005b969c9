"""What a sync writes down about the vault as a whole, once its notes are taken in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from khiip_indexer import store
from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.index import VaultIndex
from khiip_indexer.records import SyncReport
from khiip_indexer.storage.pruning import prune
from khiip_indexer.syncing import work
from khiip_indexer.syncing.work import Work
from khiip_indexer.types import Problem

# Names git's commit at which the index last had what the whole vault had.
SETTLED = "settled_head"


class Bookkeeping:
    """Remembers for the next run and for readers; a run that found nothing writes nothing."""

    def __init__(self, index: VaultIndex) -> None:
        self._index = index
        self._database = index.database
        self._offline: set[str] = set(json.loads(index.meta("offline") or "[]"))
        self._unpruned = True

    def note_problems(self, todo: Work, met: Sequence[Problem], *, complete: bool) -> None:
        """Write down what could not be looked at, if that is not what it was.

        `met` are the problems of this run, `complete` whether it came to every note.
        """
        connection = self._database.read()
        problems = work.vault_problems(connection, todo.scan)
        over = work.readable_again(connection, todo.scan, met) if complete else []
        if over or problems is not None:
            with self._database.write() as writer:
                for path in over:
                    store.put_problems(writer, path, "file", [])
                if problems is not None:
                    store.replace_problems(writer, "vault", problems)

    def remember(self, report: SyncReport, todo: Work, model: str, now: datetime) -> int:
        """Write down what was found out about the vault; gives the generation."""
        generation = int(self._index.meta("generation") or 0)
        changed = report.behind + report.embedded > 0
        self._unpruned |= changed
        known = {"generation": str(generation + changed), **self._seen(report, todo, now)}
        connection = self._database.read()
        known = {k: v for k, v in known.items() if store.get_meta(connection, k) != v}
        if known:
            with self._database.write() as writer:
                for key, value in known.items():
                    store.put_meta(writer, key, value)
        if changed:
            self._index.tidy()
        if todo.scan.under is None and self._unpruned:
            self._prune(model, now)
        return generation + changed

    def _seen(self, report: SyncReport, todo: Work, now: datetime) -> dict[str, str]:
        """What only a look at the whole vault can tell, and what a part adds to it."""
        scan = todo.scan
        self._offline = {path for path in self._offline if not scan.covers(path)} | scan.offline
        seen = {"offline": json.dumps(sorted(self._offline))}
        if scan.under is None or todo.kept:
            seen["suspect"] = str(len(todo.kept))
        if scan.under is None and report.complete:
            seen["last_reconcile"] = rfc3339(now)
            seen["indexed_at_ns"] = str(scan.started_ns)
            if todo.head is not None and not todo.kept:
                seen[SETTLED] = todo.head
        return seen

    def _prune(self, model: str, now: datetime) -> None:
        with self._database.write() as connection:
            prune(connection, model, int(now.timestamp()))
        self._unpruned = False
