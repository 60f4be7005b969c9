"""A note's edits as a history: how many, when, in how many sessions, and what for. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from khiip_indexer.fields.dates import rfc3339
from khiip_indexer.history import Commit, Edits, NoteEdit
from khiip_sidecar.intents import intent_of

# Edits of one author that are this many seconds apart, or more, are two sessions.
SESSION_GAP = 30 * 60
# What is shown at most; the totals are those of everything.
MOST_PATHS = 200
MOST_DAYS = 366
MOST_INTENTS = 100
_OPERATIONS = ("created", "modified", "renamed", "deleted")


@dataclass(frozen=True, slots=True)
class PathEdits:
    """How many edits were made under a path; a note that was renamed has several."""

    path: str
    edits: int


@dataclass(frozen=True, slots=True)
class DayEdits:
    """How many edits of one kind a day had; days are UTC's, as in 2026-01-31."""

    day: str
    operation: str
    edits: int


@dataclass(frozen=True, slots=True)
class Intent:
    """Why something was edited, in the words of its commits; `when` is the last time it was said.

    `occurrences` counts the commits that said it.
    """

    intent: str
    when: str
    occurrences: int


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """A capture that has to do with the notes of a history."""

    id: str
    entity: str | None
    title: str
    preview: str


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What happened to the notes whose path holds a text; times are RFC 3339 UTC.

    Paths by most edits, days and intents newest first. At most 200 paths, 366 days and 100
    intents; `total_edits`, `first_edit`, `last_edit` and `sessions_involved` are those of all.
    """

    paths_matched: tuple[PathEdits, ...]
    total_edits: int
    first_edit: str | None
    last_edit: str | None
    sessions_involved: int
    daily_breakdown: tuple[DayEdits, ...]
    user_intents: tuple[Intent, ...]
    history_state: str
    linked_memories: tuple[LinkedMemory, ...] = ()


def file_history(found: Edits, linked_memories: Sequence[LinkedMemory] = ()) -> FileHistory:
    """The history that these edits make."""
    edits = found.edits
    times = [edit.at for edit in edits]
    return FileHistory(
        paths_matched=_paths(edits),
        total_edits=sum(edit.edits for edit in edits),
        first_edit=_moment(min(times)) if times else None,
        last_edit=_moment(max(times)) if times else None,
        sessions_involved=sessions(edits),
        daily_breakdown=_days(edits),
        user_intents=_intents(edits),
        history_state=found.state,
        linked_memories=tuple(linked_memories),
    )


def sessions(edits: Iterable[NoteEdit]) -> int:
    """In how many sessions the edits were made.

    A session is what a commit's `Session-Id:` trailer says; else edits of one author with less
    than 30 minutes between one and the next. Edits that only the journal tells have no author,
    and so sessions of their own.
    """
    named: set[str] = set()
    times: dict[str, set[int]] = defaultdict(set)
    for edit in edits:
        if edit.commit is not None and edit.commit.session:
            named.add(edit.commit.session)
        else:
            times[edit.commit.author if edit.commit else ""].add(edit.at)
    return len(named) + sum(_stretches(sorted(moments)) for moments in times.values())


def _stretches(moments: Sequence[int]) -> int:
    gaps = (later - earlier for earlier, later in pairwise(moments))
    return 1 + sum(gap >= SESSION_GAP for gap in gaps)


def _paths(edits: Iterable[NoteEdit]) -> tuple[PathEdits, ...]:
    counts: Counter[str] = Counter()
    for edit in edits:
        counts[edit.path] += edit.edits
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(PathEdits(path, count) for path, count in ordered[:MOST_PATHS])


def _days(edits: Iterable[NoteEdit]) -> tuple[DayEdits, ...]:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for edit in edits:
        counts[edit.at // 86400][edit.operation] += edit.edits
    return tuple(
        DayEdits(_moment(day * 86400)[:10], operation, counts[day][operation])
        for day in sorted(counts, reverse=True)[:MOST_DAYS]
        for operation in _OPERATIONS
        if counts[day][operation]
    )


def _intents(edits: Iterable[NoteEdit]) -> tuple[Intent, ...]:
    """What was said, each once; a commit counts once, however many notes it touched."""
    said: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for commit in _commits(edits):
        if intent := intent_of(commit.subject, commit.body):
            said[" ".join(intent.split()).casefold()].append((commit.at, intent))
    newest = [(max(times), len(times)) for times in said.values()]
    newest.sort(key=lambda item: (-item[0][0], item[0][1]))
    return tuple(
        Intent(intent, _moment(at), count) for (at, intent), count in newest[:MOST_INTENTS]
    )


def _commits(edits: Iterable[NoteEdit]) -> Iterable[Commit]:
    return {edit.commit.hash: edit.commit for edit in edits if edit.commit is not None}.values()


def _moment(seconds: int) -> str:
    return rfc3339(datetime.fromtimestamp(seconds, UTC))
