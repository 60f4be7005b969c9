"""Edits as a history: sums, sessions, days, intents, and their order on the wire."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from khiip_indexer.history import Edits, NoteEdit
from khiip_indexer.storage.journal import Operation
from khiip_indexer.storage.lineage import Commit
from khiip_sidecar.history import (
    MOST_DAYS,
    MOST_INTENTS,
    MOST_PATHS,
    DayEdits,
    FileHistory,
    Intent,
    LinkedMemory,
    PathEdits,
    file_history,
    sessions,
)
from khiip_sidecar.wire.history_view import history_view

NOON = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp())
MINUTE, DAY = 60, 86400


def edit(
    at: int,
    path: str = "a.md",
    operation: Operation = "modified",
    *,
    subject: str = "",
    body: str = "",
    author: str = "A",
    session: str | None = None,
    digest: str | None = None,
) -> NoteEdit:
    commit = Commit(at, (), digest or f"{at}{author}{subject}", at, author, subject, body, session)
    return NoteEdit(path, at, operation, commit=commit)


def made(*edits: NoteEdit, state: str = "git") -> FileHistory:
    return file_history(Edits(state, edits))


def test_sums_and_bounds() -> None:
    history = made(
        edit(NOON + DAY, "b.md", "renamed"),
        edit(NOON, "a.md"),
        NoteEdit("a.md", NOON - 3 * DAY, "modified", edits=4),
        edit(NOON - 4 * DAY, "a.md", "created"),
    )
    assert history.total_edits == 7
    assert history.paths_matched == (PathEdits("a.md", 6), PathEdits("b.md", 1))
    assert (history.first_edit, history.last_edit) == (
        "2026-02-25T12:00:00Z", "2026-03-02T12:00:00Z",
    )  # fmt: skip


def test_without_any_edit_all_is_empty_and_the_state_says_why() -> None:
    state = "git_unavailable: git was not found"
    assert made(state=state) == FileHistory((), 0, None, None, 0, (), (), state)


@pytest.mark.parametrize(
    ("edits", "count"),
    [
        ([], 0),
        ([edit(0)], 1),
        ([edit(0), edit(30 * MINUTE - 1)], 1),
        ([edit(0), edit(30 * MINUTE)], 2),
        ([edit(50 * MINUTE), edit(0), edit(25 * MINUTE)], 1),
        ([edit(0, author="A"), edit(1, author="B")], 2),
        ([edit(0, session="s"), edit(9 * DAY, session="s", author="B")], 1),
        ([edit(0, session="s"), edit(1), edit(2, session="t")], 3),
        ([NoteEdit("a.md", 0, "modified"), edit(1)], 2),
    ],
)
def test_a_session_is_what_the_trailer_says_or_a_stretch_of_one_author(
    edits: list[NoteEdit], count: int
) -> None:
    assert sessions(edits) == count


def test_days_are_those_of_utc_newest_first_each_kind_apart() -> None:
    midnight = NOON - NOON % DAY
    history = made(
        edit(midnight, operation="deleted"),
        edit(midnight, operation="created"),
        edit(midnight + DAY - 1, operation="created"),
        edit(midnight - 1),
    )
    assert history.daily_breakdown == (
        DayEdits("2026-03-01", "created", 2),
        DayEdits("2026-03-01", "deleted", 1),
        DayEdits("2026-02-28", "modified", 1),
    )


def test_an_intent_is_told_once_with_its_newest_time_and_how_often_it_was_said() -> None:
    history = made(
        edit(NOON + 9, subject="vault backup: 2026-03-01 12:00:09"),
        edit(NOON + 5, subject="Plan  the move", body="Session-Id: s"),
        edit(NOON + 3, "a.md", subject="Tidy", body="It was a mess.", digest="one"),
        edit(NOON + 3, "b.md", subject="Tidy", body="It was a mess.", digest="one"),
        edit(NOON, subject="plan the Move"),
        NoteEdit("a.md", NOON, "modified"),
    )
    assert history.user_intents == (
        Intent("Plan  the move", "2026-03-01T12:00:05Z", 2),
        Intent("Tidy\n\nIt was a mess.", "2026-03-01T12:00:03Z", 1),
    )
    assert history.total_edits == 6, "a backup is an edit, and no intent"


def test_long_lists_are_cut_and_the_totals_are_not() -> None:
    count = MOST_DAYS + 10
    history = made(*(edit(NOON - n * DAY, f"{n}.md", subject=f"why {n}") for n in range(count)))
    assert len(history.paths_matched) == MOST_PATHS
    assert len(history.daily_breakdown) == MOST_DAYS
    assert len(history.user_intents) == MOST_INTENTS
    assert history.user_intents[0].intent == "why 0"
    assert history.daily_breakdown[0].day == "2026-03-01"
    assert (history.total_edits, history.sessions_involved) == (count, count)
    assert history.first_edit == "2025-02-19T12:00:00Z"


def test_the_wire_has_the_fields_in_their_order() -> None:
    memory = LinkedMemory("01", "Ada", "Pump", "The pump drips.")
    history = file_history(Edits("git", (edit(NOON, subject="Why"),)), [memory])
    assert json.dumps(history_view(history)) == json.dumps(
        {
            "paths_matched": [{"path": "a.md", "edits": 1}],
            "total_edits": 1,
            "first_edit": "2026-03-01T12:00:00Z",
            "last_edit": "2026-03-01T12:00:00Z",
            "sessions_involved": 1,
            "daily_breakdown": [{"day": "2026-03-01", "operation": "modified", "edits": 1}],
            "user_intents": [{"intent": "Why", "when": "2026-03-01T12:00:00Z", "occurrences": 1}],
            "linked_memories": [
                {"id": "01", "entity": "Ada", "title": "Pump", "preview": "The pump drips."}
            ],
            "history_state": "git",
        }
    )
