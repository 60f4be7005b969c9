"""Asks every question of a collection in one or more ways, and measures what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from khiip_indexer.errors import UsageError
from khiip_sidecar.client import Json, Params
from khiip_sidecar.evaluation.collection import Query
from khiip_sidecar.evaluation.measures import Scores, measure
from khiip_sidecar.wire.params import RECALL


class Recaller(Protocol):
    """Whoever answers a recall as REST does."""

    def recall(self, params: Params) -> Json: ...


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to recall: how hits are found, and how they are ordered."""

    match: str
    rank: str

    def __str__(self) -> str:
        return self.match if self.rank == choices("rank")[0] else f"{self.match}/{self.rank}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one query reached, a set of measures for each setting in their order.

    `stale` when a note had changed since it was indexed.
    """

    query: Query
    scores: tuple[Scores, ...]
    stale: bool = False


def choices(name: str) -> tuple[str, ...]:
    """The values that recall knows for one of its parameters, the default first."""
    parameter = next(each for each in RECALL if each.name == name)
    return tuple(dict.fromkeys((str(parameter.default), *parameter.choices)))


def setting_of(said: str) -> Setting:
    """`hybrid/composite`, or `hybrid` alone for the default order. Raises UsageError."""
    match, slash, rank = said.partition("/")
    return checked(Setting(match, rank if slash else choices("rank")[0]))


def checked(setting: Setting) -> Setting:
    """The setting itself. Raises UsageError for a name that recall does not know."""
    for name, value in (("match", setting.match), ("rank", setting.rank)):
        if value not in choices(name):
            raise UsageError(
                f"There is no {name} {value!r}.", hint=f"Known are: {', '.join(choices(name))}."
            )
    return setting


def evaluate(
    recaller: Recaller, queries: Iterable[Query], settings: Sequence[Setting], limit: int
) -> list[Outcome]:
    """Ask each query in every setting, and measure the first `limit` hits.

    All settings are asked query by query, so that one which is not served is known at once and
    not after the first has been through.
    """
    return [_outcome(recaller, query, settings, limit) for query in queries]


def _outcome(recaller: Recaller, query: Query, settings: Sequence[Setting], limit: int) -> Outcome:
    answers = [_asked(recaller, query, setting, limit) for setting in settings]
    scores = tuple(measure(ids, query.grades, limit) for ids, _ in answers)
    return Outcome(query, scores, any(stale for _, stale in answers))


def _asked(
    recaller: Recaller, query: Query, setting: Setting, limit: int
) -> tuple[list[str], bool]:
    """Ids of the hits, best first, and whether the disk is ahead of the index for one."""
    try:
        answer = recaller.recall(_params(query.text, setting, limit))
    except UsageError as error:
        raise UsageError(
            f"The query {query.id}: {error.sentence}", hint=error.hint, code=error.code
        ) from error
    return [hit["id"] for hit in answer["results"]], bool(answer["stale"])


def _params(text: str, setting: Setting, limit: int) -> Params:
    """Measuring is not reading: what it finds must not count as used."""
    said = {
        "query": text,
        "match": setting.match,
        "rank": setting.rank,
        "limit": str(limit),
        "view": "lean",
        "excerpt_chars": "0",
        "mark_accessed": "false",
    }
    return {name: [value] for name, value in said.items()}
