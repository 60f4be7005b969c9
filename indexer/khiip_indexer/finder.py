"""Finds captures for a query: by meaning, by words, and where in each of them it stands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from khiip_indexer.storage import queries
from khiip_indexer.storage.conditions import where
from khiip_indexer.storage.database import Database, translated

if TYPE_CHECKING:
    from khiip_indexer.lexical.passages import PassageHit
    from khiip_indexer.lexical.search import LexicalHit
    from khiip_indexer.lexical.terms import Terms
    from khiip_indexer.records import Filters
    from khiip_indexer.search import Meaning, Search
    from khiip_indexer.storage.memo import Memo
    from khiip_indexer.vectors import Vector


class Finder:
    """Every method may be called from many threads; `searching` opens a search over vectors.

    What searches words is loaded when words are looked for: by meaning alone it is not needed.
    `memo` keeps what was read of words until the cache changes.
    """

    def __init__(
        self,
        database: Database,
        searching: Callable[[], AbstractContextManager[Search]],
        memo: Memo,
    ) -> None:
        self._database = database
        self._searching = searching
        self._memo = memo

    def meanings(
        self, vector: Vector, filters: Filters, pool: int, also: Collection[int] = ()
    ) -> dict[int, Meaning]:
        """By capture row: how near the `pool` nearest captures are, and those of `also`."""
        with self._searching() as search:
            return search.meanings(vector, filters, pool, also)

    def has_vectors(self, model: str) -> bool:
        """Whether any capture can be compared by meaning under this model."""
        with translated(self._database.path):
            return queries.has_vectors(self._database.read(), model)

    def allowed(self, rows: Iterable[int], filters: Filters) -> set[int]:
        """Which of these captures the filters let in."""
        with translated(self._database.path):
            return queries.allowed(self._database.read(), list(rows), filters)

    def words(self, asked: Terms | str, filters: Filters, pool: int) -> dict[int, LexicalHit]:
        """By capture row: the `pool` captures whose words fit best.

        `asked` are a query's terms, or a MATCH expression of FTS5: UsageError where that is none.
        """
        from khiip_indexer.lexical import match
        from khiip_indexer.lexical.postings import Kept
        from khiip_indexer.lexical.search import LexicalSearch

        with translated(self._database.path):
            connection = self._database.read()
            kept = self._memo.get(connection, "words", Kept)
            search = LexicalSearch(connection, kept=kept)
            if isinstance(asked, str):
                expression = match.check_fts5(connection, asked)
                return search.run_match(expression, where(filters), pool)
            return search.run(asked, where(filters), pool)

    def titled(self, asked: Terms | str | None, rows: Iterable[int]) -> set[int]:
        """Which of these captures have most of a query's terms in their title."""
        if asked is None or isinstance(asked, str):
            return set()
        from khiip_indexer.lexical.search import LexicalSearch

        with translated(self._database.path):
            return LexicalSearch(self._database.read()).titled(asked, rows)

    def forms(self) -> Mapping[int, str]:
        """By capture row: which captures are hardly a text, and what they are instead."""
        with translated(self._database.path):
            connection = self._database.read()
            return self._memo.get(connection, "forms", lambda: queries.forms(connection))

    def passages(
        self, rows: Sequence[int], query: str, vector: Vector | None
    ) -> dict[int, PassageHit]:
        """By capture row: the passage that shows best why it fits the query."""
        from khiip_indexer.lexical.passages import best_passages
        from khiip_indexer.lexical.terms import terms

        cosines = None
        if vector is not None:
            with self._searching() as search:
                cosines = search.passage_cosines(vector, rows)
        with translated(self._database.path):
            return best_passages(self._database.read(), rows, terms(query), cosines)
