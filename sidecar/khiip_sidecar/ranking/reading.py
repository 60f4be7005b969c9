"""How a query is read: as a vector, as words, or as both, and what of it cannot be had now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_indexer.embedding.lineup import query_vector as embed_query
from khiip_indexer.embedding.nothing import NO_EMBEDDER, is_none
from khiip_indexer.errors import IndexMissing, ModelError, UsageError
from khiip_sidecar.ranking.candidates import Query
from khiip_sidecar.ranking.fusion import WORDS_WEIGHT, WORDS_WEIGHT_WEAK
from khiip_sidecar.ranking.language import is_weak_language
from khiip_sidecar.ranking.orders import Match
from khiip_sidecar.refusals import no_embedder, no_vectors_yet, other_model

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.lexical.terms import Terms
    from khiip_indexer.vectors import Vector
    from khiip_sidecar.results import RecallRequest

# Faults of a model that an answer names as they are; any other is a model that is not there.
TOLD = frozenset(
    {
        *("model_failed", NO_EMBEDDER, "consent_needed", "no_key"),
        *("embedder_unreachable", "embedder_refused", "embedder_gone", "embedder_failed"),
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A query as it is looked up; `match` is what was asked for, or what is left of it.

    `degraded` names what was not available or is not to be trusted.
    """

    query: Query
    match: Match
    degraded: tuple[str, ...] = ()


def read(
    request: RecallRequest, text: str, index: VaultIndex, embedder: Embedder, error: str | None
) -> Reading:
    """Read a query for one search; `error` says why the index is not there, where that is known.

    Where meaning cannot be compared, words answer, and the reading says so. An index of another
    model is to be made anew, and is an error for a search by meaning alone.
    """
    _check_syntax(request)
    words = text if request.syntax == "fts5" else None
    if request.match == "lexical":
        return Reading(Query(words=words or _terms(text)), "lexical")
    vector, missing = _vector(request, text, index, embedder, error)
    if vector is None:
        return Reading(Query(words=words or _terms(text)), "lexical", (missing,))
    weak = is_weak_language(text, embedder.identity.name)
    degraded = ("weak_language",) if weak else ()
    if request.match == "semantic":
        return Reading(Query(vector=vector), "semantic", degraded)
    weight = WORDS_WEIGHT_WEAK if weak else WORDS_WEIGHT
    return Reading(Query(vector, words or _terms(text), weight), "hybrid", degraded)


def _terms(text: str) -> Terms:
    from khiip_indexer.lexical.terms import terms

    return terms(text)


def _check_syntax(request: RecallRequest) -> None:
    if request.syntax == "fts5" and request.match == "semantic":
        raise UsageError(
            "`match_syntax=fts5` is for words, and this search is by meaning.",
            hint="Give match=lexical or match=hybrid with it.",
        )


def _vector(
    request: RecallRequest, text: str, index: VaultIndex, embedder: Embedder, error: str | None
) -> tuple[Vector | None, str]:
    """The query's vector, or None and the name of what is missing."""
    try:
        require_vectors(index, embedder, error)
        return query_vector(text, embedder), ""
    except ModelError as fault:
        return None, fault.code if fault.code in TOLD else "no_model"
    except IndexMissing as fault:
        if fault.code == "index_of_other_model" and request.match == "semantic":
            raise
        return None, "no_vectors" if fault.code == "index_warming" else fault.code


def require_vectors(index: VaultIndex, embedder: Embedder, error: str | None) -> None:
    """Vectors of two models must never meet in one search."""
    made_by = index.model()
    if is_none(embedder.identity.key):
        raise no_embedder()
    if made_by is None or is_none(made_by.key):
        raise no_vectors_yet(error)
    if made_by.key != embedder.identity.key:
        raise other_model(made_by, embedder.identity)
    # Counting is dear while notes pour in; that there is a vector is seen at once.
    if not index.finder.has_vectors(made_by.key) and index.counts().notes:
        raise no_vectors_yet(error)


def query_vector(query: str, embedder: Embedder) -> Vector:
    """The vector of a query, of length 1. Raises ModelError where there is none."""
    try:
        vector: Vector = embed_query(embedder, query)
    except RuntimeError as error:  # the model is there and fails on this very text
        raise ModelError(
            "The model failed on this query.",
            hint="Say it in other words.",
            code="model_failed",
        ) from error
    if not 0.99 < float(vector @ vector) < 1.01:  # also false for what is not a number
        raise ModelError(
            "The model gave no usable vector.", hint="Run khiipd doctor.", code="model_failed"
        )
    return vector
