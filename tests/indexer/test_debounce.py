"""When a burst of changes is over, and what it was about."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.watching.debounce import (
    MOST_PATHS,
    MOST_SECONDS,
    QUIET_SECONDS,
    Debounce,
    few,
)


def test_nothing_is_due_while_nothing_changed() -> None:
    debounce = Debounce()
    assert debounce.due_at() is None
    assert debounce.take(1e9) == frozenset()


def test_a_change_is_due_once_it_was_quiet() -> None:
    debounce = Debounce()
    debounce.add("a.md", 10.0)
    assert debounce.take(10.0 + QUIET_SECONDS / 2) == frozenset()
    debounce.add("b.md", 10.0 + QUIET_SECONDS / 2)
    assert debounce.take(10.0 + QUIET_SECONDS) == frozenset()
    assert debounce.take(10.0 + 1.5 * QUIET_SECONDS) == {"a.md", "b.md"}
    assert debounce.due_at() is None


def test_a_burst_without_a_pause_is_taken_in_pieces() -> None:
    debounce, now, taken = Debounce(), 0.0, []
    for count in range(100):
        debounce.add(f"{count}.md", now)
        taken.append(debounce.take(now))
        now += QUIET_SECONDS / 2
    waits = [index for index, paths in enumerate(taken) if paths]
    assert len(waits) > 5
    assert waits[0] * QUIET_SECONDS / 2 <= MOST_SECONDS + QUIET_SECONDS


def test_very_many_notes_are_named_by_their_folders() -> None:
    paths = {f"folder {count % 7}/{count}.md" for count in range(MOST_PATHS + 1)}
    assert few(paths) == {f"folder {count}" for count in range(7)}


def test_very_many_folders_are_the_whole_vault() -> None:
    assert few({f"{count}/note.md" for count in range(MOST_PATHS + 1)}) == {""}


@given(st.lists(st.tuples(st.text("ab/", max_size=4), st.floats(0, 3)), max_size=30))
def test_every_path_is_given_out_exactly_once(changes: list[tuple[str, float]]) -> None:
    debounce, now = Debounce(), 0.0
    seen: list[str] = []
    for path, pause in changes:
        now += pause
        debounce.add(path, now)
        seen += debounce.take(now)
    seen += debounce.take(now + MOST_SECONDS)
    assert set(seen) == {path for path, _ in changes}
    assert debounce.due_at() is None
