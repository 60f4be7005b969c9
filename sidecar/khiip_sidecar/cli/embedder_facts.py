"""What is known of embedders, as data: which there are, what one costs, what it makes of texts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from khiip_indexer.config import Settings
from khiip_indexer.embedding.choice import SERVED, EmbedderChoice
from khiip_indexer.embedding.factory import make
from khiip_indexer.errors import KhiipError, UsageError
from khiip_indexer.homes import CONFIG_FILE
from khiip_sidecar.tokens import tokens_in

if TYPE_CHECKING:
    from khiip_indexer.embedder import Embedder
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.model.session import Vectors

SAMPLED = 4000  # passages; reading more than some thousand makes a bill no truer
PAIRS = (
    ("How do I prune an apple tree?", "Cut dead and crossing branches of apple trees in winter."),
    ("How do I prune an apple tree?", "Pears keep well in a cool cellar."),
    ("How do I prune an apple tree?", "The court adjourned the hearing until Monday."),
)


def find_choice(settings: Settings, name: str | None) -> EmbedderChoice:
    """The embedder of this name (None: the one in use); UsageError lists those there are."""
    if name is None:
        return settings.embedder
    if name not in settings.embedders:
        raise UsageError(
            f"There is no embedder {name!r}.",
            hint=f"There are: {', '.join(settings.embedders)}. "
            f"Others go to {settings.homes.config / CONFIG_FILE}.",
        )
    return settings.embedders[name]


def row(settings: Settings, choice: EmbedderChoice) -> dict[str, Any]:
    """One embedder as `list` shows it."""
    return {
        "name": choice.name,
        "kind": choice.kind,
        "model": choice.model or choice.path or choice.kind,
        "host": choice.host or None,
        "remote": choice.is_remote,
        "agreed": choice.address in settings.agreed if choice.is_remote else None,
        "in_use": choice == settings.embedder,
    }


def bill(index: VaultIndex, choice: EmbedderChoice) -> dict[str, Any]:
    """What would be sent: notes, tokens (about), and the cost at the user's own price."""
    connection = index.database.read()
    notes = connection.execute("SELECT COUNT(*) FROM captures").fetchone()[0]
    tokens = _tokens(connection)
    cost = None if choice.price is None else round(tokens / 1e6 * choice.price, 4)
    return {"host": choice.host, "notes": notes, "tokens": tokens, "cost": cost}


def _tokens(connection: sqlite3.Connection) -> int:
    """Those of some thousand passages from all of the vault, and of the others in proportion."""
    total, chars = connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(LENGTH(text)), 0) FROM passages"
    ).fetchone()
    rows = connection.execute(
        "SELECT text FROM passages WHERE passage % ? = 0", (1 + total // SAMPLED,)
    )
    texts = [text for (text,) in rows]
    sampled = sum(map(len, texts))
    return round(sum(map(tokens_in, texts)) * chars / sampled) if sampled else 0


def trial(
    settings: Settings, choice: EmbedderChoice, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Any]:
    """Dimension, speed and similarity of three pairs of sentences; none of them is the user's."""
    embedder = make(settings, choice, agreed=True)
    passages = [passage for _, passage in PAIRS]
    try:
        asked = _asked(settings, choice, embedder, PAIRS[0][0])  # first: the model may be cold
        began = clock()
        rows = embedder.embed(passages)
        seconds = max(clock() - began, 1e-9)
    except RuntimeError as error:
        raise KhiipError(f"{choice.name} failed: {error}.", code="model_failed") from error
    return {
        "name": choice.name,
        "dimension": int(rows.shape[1]),
        "texts_per_second": round(len(passages) / seconds, 1),
        "pairs": [
            {"query": pair[0], "passage": pair[1], "score": round(float(asked @ vector), 3)}
            for pair, vector in zip(PAIRS, rows, strict=True)
        ],
    }


def _asked(
    settings: Settings, choice: EmbedderChoice, embedder: Embedder, question: str
) -> Vectors:
    """The vector of a question; a server is waited for as it is with passages."""
    from khiip_indexer.embedding.lineup import query_vector

    if choice.kind not in SERVED:
        return query_vector(embedder, question)
    patient = replace(choice, passage_prefix=choice.query_prefix)
    row: Vectors = make(settings, patient, agreed=True).embed([question])[0]
    return row


def state(index: VaultIndex, settings: Settings) -> dict[str, Any]:
    """Whose vectors answer, whose are on their way, and whose are kept for going back."""
    from khiip_sidecar.wire.views import embedder_view

    model = index.model()
    rows = index.database.read().execute(
        "SELECT model, COUNT(*), MAX(orphaned_at) FROM vectors GROUP BY model ORDER BY model"
    )
    mine = model.key if model else ""
    coming = index.coming()
    of_others = [
        {"model": key, "vectors": count, "unused_since": since}
        for key, count, since in rows
        if key not in (mine, coming[0].key if coming[0] else "")
    ]
    return {
        "chosen": settings.embedder.name,
        "embedder": embedder_view(model, *coming) if model else None,
        "kept": of_others,
    }


def plainly(key: str) -> str:
    """The key of a model as a person knows it: its name and dimensions."""
    name, _, dimension, *_ = key.rsplit(":", 4)
    return f"{name}, {dimension} dimensions"
