"""Why a recall cannot be answered now, in sentences that a person can act on; pure."""

from __future__ import annotations

from khiip_indexer.errors import IndexMissing, KhiipError, ModelError
from khiip_indexer.records import WatcherState
from khiip_indexer.types import ModelIdentity


def notes_gone(kept: int) -> str:
    """Most notes vanished at once, and the index keeps them until that is confirmed."""
    return (
        f"{kept} notes, most of the index, are gone from the vault; none was dropped from the "
        "index. If you did delete them: khiipd reindex --accept-deletions."
    )


def not_watching(watcher: WatcherState) -> str | None:
    """What it means for people that changes are not told by the system; None when they are."""
    if watcher.mode != "polling":
        return None
    why = {
        "inotify_limit": "the system's limit of watched folders is reached",
        "no_events": "this drive tells nothing of changes",
    }.get(watcher.reason or "", "changes cannot be watched here")
    return f"Edits are found within half a minute only: {why}."


def no_embedder() -> KhiipError:
    """The user wants no vectors, so that only words can be compared."""
    return ModelError(
        "This vault has no embedder: it is searched by words.",
        hint="Choose one with khiipd embedder use NAME.",
        code="no_embedder",
    )


def no_vectors_yet(error: str | None) -> KhiipError:
    """There is nothing to compare with; `error` says why where it is known."""
    return too_early(error or "The index holds no vectors yet, so nothing can be compared.")


def too_early(sentence: str) -> KhiipError:
    """The index is on its way."""
    return IndexMissing(
        sentence,
        hint="Wait until indexing has begun in earnest, or run khiipd reindex.",
        code="index_warming",
    )


def other_model(made_by: ModelIdentity, current: ModelIdentity) -> KhiipError:
    """Vectors of two models must never meet in one search."""
    same_name = made_by.name == current.name
    old, new = (made_by.key, current.key) if same_name else (made_by.name, current.name)
    return IndexMissing(
        f"index was built with model {old}, current is {new}: run khiipd reindex",
        hint="khiipd reindex embeds the vault again with the model that is set now.",
        code="index_of_other_model",
    )
