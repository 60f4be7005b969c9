"""Events of notes, and how they become an entity's; momentum looked up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from khiip_indexer.records import Filters
from khiip_indexer.storage.entities import EntityFacts
from khiip_sidecar.memory.activity import Activity, NoteEvents, note_events, pulses
from khiip_sidecar.memory.constants import DAY, HOUR
from khiip_sidecar.memory.lookup import Remembered, Sources

NOW = 1_782_820_800.0
NOTHING: Activity = {}


def facts_of(
    recorded: list[float],
    about: dict[str, list[int]] | None = None,
    importance: list[float] | None = None,
) -> EntityFacts:
    """Notes by the days since they were recorded, and which of them are about what."""
    count = len(recorded)
    pairs = [(e, n) for e, notes in enumerate((about or {}).values()) for n in notes]
    return EntityFacts(
        rows=np.arange(1, count + 1),
        paths=tuple(f"{n}.md" for n in range(count)),
        ids=tuple(f"id{n}" for n in range(count)),
        layers=(None,) * count,
        importance=np.array(importance or [math.nan] * count),
        pinned=np.zeros(count, np.bool_),
        recorded=NOW - np.array(recorded) * DAY,
        edited=np.zeros(count),
        made=NOW - np.array(recorded) * DAY,
        backlinks=np.zeros(count, np.int64),
        keys=tuple(about or {}),
        entity=np.array([e for e, _ in pairs], np.int64),
        note=np.array([n for _, n in pairs], np.int64),
    )


def ago(days: float) -> int:
    return int(NOW - days * DAY)


def numbers(events: NoteEvents) -> list[tuple[int, int, int]]:
    columns = (events.day.tolist(), events.week.tolist(), events.total.tolist())
    return list(zip(*columns, strict=True))


def test_a_note_without_known_edits_has_its_record_as_its_one_event() -> None:
    events = note_events(facts_of([0.5, 3, 30]), NOTHING, NOW)
    assert numbers(events) == [(1, 1, 1), (0, 1, 1), (0, 0, 1)]
    assert events.first.tolist() == [NOW - 0.5 * DAY, NOW - 3 * DAY, NOW - 30 * DAY]


def test_known_edits_are_counted_and_the_record_with_the_first_of_them_is_one_event() -> None:
    activity = {"0.md": ([ago(0.2), ago(3)], 9, ago(29.5))}
    events = note_events(facts_of([30]), activity, NOW)
    assert numbers(events) == [(1, 2, 9)]


def test_a_record_long_before_the_first_known_edit_is_an_event_of_its_own() -> None:
    activity = {"0.md": ([ago(0.2)], 1, ago(0.2)), "1.md": ([ago(0.2)], 1, ago(0.2))}
    events = note_events(facts_of([400, 3]), activity, NOW)
    assert numbers(events) == [(1, 1, 2), (1, 2, 2)]
    assert events.first.tolist() == [NOW - 400 * DAY, NOW - 3 * DAY]


def test_a_record_after_the_edits_is_none() -> None:
    activity: Activity = {"0.md": ([], 4, ago(100))}
    assert numbers(note_events(facts_of([1]), activity, NOW)) == [(0, 0, 4)]


def test_what_lies_in_the_future_is_now() -> None:
    activity = {"1.md": ([ago(-5)], 1, ago(-5))}
    events = note_events(facts_of([-30, -30]), activity, NOW)
    assert numbers(events) == [(1, 1, 1), (1, 1, 1)]
    assert events.first.tolist() == [NOW, NOW]


def test_a_day_and_a_week_end_at_their_bound() -> None:
    edge = {"0.md": ([ago(1), ago(7)], 2, ago(7))}
    assert numbers(note_events(facts_of([7]), edge, NOW)) == [(0, 1, 2)]
    inside = {"0.md": ([ago(1) + 1, ago(7) + 1], 2, ago(7) + 1)}
    assert numbers(note_events(facts_of([7]), inside, NOW)) == [(1, 2, 2)]


def test_an_entity_has_the_events_of_the_notes_about_it() -> None:
    facts = facts_of(
        [0.5, 3, 30], {"ada": [0, 1, 2], "bob": [2], "cy": [0]}, importance=[0.9, 0.5, 0.1]
    )
    found = pulses(facts, note_events(facts, NOTHING, NOW))
    assert found.day.tolist() == [1, 0, 1]
    assert found.week.tolist() == [2, 0, 1]
    assert found.total.tolist() == [3, 1, 1]
    assert found.first.tolist() == [NOW - 30 * DAY, NOW - 30 * DAY, NOW - 0.5 * DAY]
    assert found.quality.tolist() == pytest.approx([0.7, 0.0, 0.9])


class Index:
    """An index and a history that count how often they are read."""

    def __init__(self, facts: EntityFacts, activity: Activity) -> None:
        self.known, self.edits = facts, activity
        self.generation, self.now = 1, NOW
        self.reads = self.looks = self.notes = 0
        self.since = 0
        self.takes: Callable[[], None] = lambda: None

    def facts(self, _filters: Filters) -> EntityFacts:
        self.reads += 1
        self.takes()
        return replace(self.known)

    def mark(self) -> tuple[object, ...]:
        return (self.notes,)

    def activity(self, since: int) -> Activity:
        self.looks += 1
        self.since = since
        return self.edits

    def remembered(self) -> Remembered:
        return Remembered(
            Sources(
                reader=lambda: self,  # type: ignore[arg-type, return-value]
                generation=lambda: self.generation,
                history=lambda: self,
                now=lambda: self.now,
            )
        )


def test_a_note_takes_its_most_active_entitys_momentum() -> None:
    # ada: two notes of today, first activity: 0.4 * 3 + 0.3 * 7 + 0.3 * 5 = 4.8
    # bob: one event in ten weeks, 0.1 a week: 0.4 * 3 + 0.3 * 2 + 0.3 * 10 = 4.8; nothing for cy
    facts = facts_of(
        [0.1, 0.2, 3, 70, 71], {"ada": [0, 1], "bob": [2, 3], "cy": [4], "dee": [1, 4]}
    )
    momentum = Index(facts, NOTHING).remembered().momentum()
    assert momentum.entity("ada") == 4.8
    assert momentum.entity("cy") == 0.0
    assert momentum.entity("nobody") == 0.0
    # dee: one of today and one ten weeks ago: 0.4 * 3 + 0.3 * 7 + 0.3 * 10
    assert momentum.entity("dee") == 6.3
    assert momentum.notes([5, 1, 2, 99]).tolist() == [6.3, 4.8, 6.3, 0.0]
    assert momentum.importances([1, 99]).tolist()[:1] == [0.3]


def test_facts_are_read_once_a_generation_and_momentum_once_a_minute() -> None:
    index = Index(facts_of([0.1], {"ada": [0]}), NOTHING)
    remembered = index.remembered()
    first = remembered.momentum()
    index.now += 30
    assert remembered.momentum() is first
    assert (index.reads, index.looks) == (1, 1)
    index.now += 60
    assert remembered.momentum() is not first
    assert (index.reads, index.looks) == (1, 2)
    index.generation = 2
    remembered.momentum()
    assert (index.reads, index.looks) == (2, 3)
    # Notes were taken in, and their vectors are still to come.
    index.notes = 1
    remembered.momentum()
    assert (index.reads, index.looks) == (3, 4)
    assert index.since == ago(7) + 60


def test_dear_facts_are_somewhat_old_while_notes_pour_in_and_fresh_when_that_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr("khiip_sidecar.memory.lookup.time.monotonic", lambda: clock[0])
    index = Index(facts_of([0.1], {"ada": [0]}), NOTHING)
    index.takes = lambda: clock.__setitem__(0, clock[0] + 1.0)
    remembered = index.remembered()
    remembered.momentum()
    index.notes = 1
    clock[0] += 19
    remembered.momentum()
    assert index.reads == 1
    clock[0] += 2
    remembered.momentum()
    assert index.reads == 2
    index.generation, index.notes = 2, 2
    remembered.momentum()
    assert index.reads == 3


def test_momentum_goes_down_by_itself_as_time_passes() -> None:
    index = Index(facts_of([0.5], {"ada": [0]}), NOTHING)
    remembered = index.remembered()
    seen = []
    for hours in (0, 24, 24 * 7):
        index.now = NOW + hours * HOUR
        seen.append(remembered.momentum().entity("ada"))
    # 24 hours 7 and first activity 5; then 7 days 2; then nothing
    assert seen == [4.8, 3.3, 0.0]


def test_an_empty_index_has_no_momentum() -> None:
    momentum = Index(facts_of([]), NOTHING).remembered().momentum()
    assert momentum.entity("ada") == 0.0
    assert momentum.notes([1]).tolist() == [0.0]


def test_a_note_that_only_its_file_dates_is_no_event() -> None:
    known = facts_of(recorded=[0.0, 0.0], about={"a": [0], "b": [1]})
    known = replace(known, made=np.array([math.inf, NOW]))
    events = note_events(known, {}, NOW)
    assert events.total.tolist() == [0, 1]
    assert events.week.tolist() == [0, 1]
    edited = note_events(known, {"0.md": ([int(NOW) - 60], 1, int(NOW) - 60)}, NOW)
    assert (edited.total.tolist(), edited.day.tolist()) == ([1, 1], [1, 1])
