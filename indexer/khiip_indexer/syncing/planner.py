"""Settles what a round has to do: what changed, what must be read again, what may be dropped."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime

from khiip_indexer.disk.ages import Ages
from khiip_indexer.disk.taken_away import taken_away
from khiip_indexer.index import VaultIndex
from khiip_indexer.storage import queries
from khiip_indexer.syncing import work
from khiip_indexer.syncing.bookkeeping import SETTLED
from khiip_indexer.syncing.plan import Lately
from khiip_indexer.syncing.work import Work


class Planner:
    """Makes the plan of each round; it knows what was dropped lately, and where git stood."""

    def __init__(self, index: VaultIndex, ages: Ages, clock: Callable[[], datetime]) -> None:
        self._index = index
        self._database = index.database
        self._ages = ages
        self._clock = clock
        self._lately = Lately()

    def more_has_changed(self) -> bool:
        """Whether only a look at the whole vault tells what to do."""
        return (
            int(self._index.meta("suspect") or 0) > 0
            or self._index.meta("chains") is not None
            or self._index.vault.rules_changed()
            or self._ages.moved()
        )

    def plan(
        self, paths: Collection[str] | None, *, reread_all: bool, accept_deletions: bool
    ) -> Work:
        """What to do about these notes and folders, or about all of the vault."""
        standing = self._ages.standing()
        todo = self._with_reread(work.plan_work(self._index, paths), reread_all)
        if todo.scan.under is None:
            todo = replace(todo, head=self._ages.head_at(standing))
        if not accept_deletions:
            todo = todo.braked(self._lately.count(self._clock()), self._taken_away)
            self._lately.add(self._clock(), len(todo.changes.removed) - todo.explained)
        return todo

    def _taken_away(self) -> Collection[str]:
        """Notes that git took along when it left the commit of the last whole look."""
        settled = self._index.meta(SETTLED)
        return taken_away(self._index.settings.vault, settled) if settled else ()

    def _with_reread(self, todo: Work, reread_all: bool) -> Work:
        touched, seen = todo.changes.touched, todo.scan.files
        again = self._ages.dated_by_file(self._database.read(), touched, seen)
        again |= queries.misread(self._database.read())
        again |= queries.renamed(self._database.read())
        if todo.scan.under is None:
            with self._database.write() as connection:
                again |= self._ages.refresh(connection)
        if not reread_all and not again:
            return todo
        return todo.rereading(None if reread_all else again)
