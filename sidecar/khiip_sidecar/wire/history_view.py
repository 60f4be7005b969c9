"""A file history as JSON, in the order of the contract's fields."""

from __future__ import annotations

from dataclasses import asdict

from khiip_sidecar.history import FileHistory
from khiip_sidecar.wire.encode import Json


def history_view(history: FileHistory) -> Json:
    """The answer of a recall by path."""
    return {
        "paths_matched": [asdict(each) for each in history.paths_matched],
        "total_edits": history.total_edits,
        "first_edit": history.first_edit,
        "last_edit": history.last_edit,
        "sessions_involved": history.sessions_involved,
        "daily_breakdown": [asdict(each) for each in history.daily_breakdown],
        "user_intents": [asdict(each) for each in history.user_intents],
        "linked_memories": [asdict(each) for each in history.linked_memories],
        "history_state": history.history_state,
    }
