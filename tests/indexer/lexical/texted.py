"""Notes indexed for text search, and what a query finds in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from houses import House, open_house
from khiip_indexer.lexical.passages import PassageHit, best_passages
from khiip_indexer.lexical.search import LexicalHit, LexicalSearch
from khiip_indexer.lexical.terms import terms

EVERYTHING = ("1", list[object]())


@dataclass(frozen=True)
class Texted:
    """A house, asked by text."""

    house: House

    def paths(self) -> dict[int, str]:
        connection = self.house.index.database.read()
        return dict(connection.execute("SELECT row, path FROM captures"))

    def hits(
        self,
        query: str,
        condition: tuple[str, list[object]] = EVERYTHING,
        pool: int = 50,
    ) -> dict[str, LexicalHit]:
        """Hits by path without `.md`, best first."""
        search = LexicalSearch(self.house.index.database.read())
        found = search.run(terms(query), condition, pool)
        paths = self.paths()
        return {paths[row].removesuffix(".md"): hit for row, hit in found.items()}

    def titled(self, query: str) -> set[str]:
        """Paths without `.md` of the notes that have most of the query in their title."""
        search = LexicalSearch(self.house.index.database.read())
        paths = self.paths()
        return {paths[row].removesuffix(".md") for row in search.titled(terms(query), paths)}

    def found(self, query: str) -> list[str]:
        return list(self.hits(query))

    def passage(self, path: str, query: str) -> PassageHit:
        row = next(row for row, name in self.paths().items() if name == path)
        return best_passages(self.house.index.database.read(), [row], terms(query))[row]


@contextmanager
def texted(root: Path, notes: Mapping[str, str]) -> Iterator[Texted]:
    """These notes by name without `.md`, indexed."""
    with open_house(root / "vault", {f"{name}.md": text for name, text in notes.items()}) as house:
        yield Texted(house)
