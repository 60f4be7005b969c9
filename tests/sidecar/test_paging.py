"""Pages of what is really on the disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.records import Freshness
from khiip_sidecar.paging import KEPT_BOOKMARKS, Bookmarks, Page, Place, fill_page


def page_of(
    states: dict[str, Freshness], *, limit: int, offset: int = 0, start: Place | None = None
) -> Page[str]:
    items = list(states)
    return fill_page(
        lambda limit, offset: items[offset : offset + limit],
        lambda item: states[item],
        limit=limit,
        offset=offset,
        start=start,
    )


def test_a_vanished_note_takes_no_place_on_the_page() -> None:
    page = page_of({"a": "fresh", "b": "gone", "c": "fresh", "d": "fresh"}, limit=2)
    assert page.items == ("a", "c")
    assert (page.has_more, page.stale, page.gone) == (True, True, 1)


def test_a_changed_note_is_served_and_makes_the_page_stale() -> None:
    page = page_of({"a": "changed"}, limit=2)
    assert (page.items, page.stale, page.has_more) == (("a",), True, False)


def test_a_changed_note_on_another_page_does_not_make_this_one_stale() -> None:
    assert not page_of({"a": "fresh", "b": "changed"}, limit=1).stale


def test_nothing_more_is_promised_when_only_vanished_notes_follow() -> None:
    page = page_of({"a": "fresh", "b": "gone", "c": "gone"}, limit=1)
    assert (page.items, page.has_more) == (("a",), False)


@pytest.mark.parametrize("offset", [0, 5])
def test_an_empty_index_is_an_empty_page(offset: int) -> None:
    empty: Page[str] = Page((), has_more=False, stale=False, gone=0, end=Place())
    assert page_of({}, limit=3, offset=offset) == empty


def test_the_next_page_begins_where_the_last_one_ended() -> None:
    states: dict[str, Freshness] = {"a": "gone", "b": "fresh", "c": "fresh", "d": "gone"}
    states |= {"e": "fresh", "f": "fresh"}
    first = page_of(states, limit=2)
    assert (first.items, first.end) == (("b", "c"), Place(present=2, read=3))
    asked: list[tuple[int, int]] = []
    items = list(states)

    def fetch(limit: int, offset: int) -> list[str]:
        asked.append((limit, offset))
        return items[offset : offset + limit]

    second = fill_page(fetch, states.__getitem__, limit=2, offset=2, start=first.end)
    assert second.items == ("e", "f")
    assert min(offset for _, offset in asked) == 3


def test_only_recent_pages_are_remembered() -> None:
    marks = Bookmarks()
    for count in range(1, KEPT_BOOKMARKS + 2):
        marks.remember("list", Place(count, count))
    assert marks.before("list", 1) is None
    assert marks.before("list", 2) == Place(2, 2)
    assert marks.before("another list", 2) is None


@given(
    st.lists(st.sampled_from(["fresh", "changed", "gone"]), max_size=30),
    st.integers(min_value=1, max_value=7),
)
def test_pages_together_are_every_present_note_once(states: list[Freshness], limit: int) -> None:
    named = {str(number): state for number, state in enumerate(states)}
    present = [name for name, state in named.items() if state != "gone"]
    collected: list[str] = []
    start: Place | None = None
    while True:
        page = page_of(named, limit=limit, offset=len(collected), start=start)
        assert page.items == page_of(named, limit=limit, offset=len(collected)).items
        collected += page.items
        start = page.end
        if not page.has_more:
            break
        assert len(page.items) == limit
    assert collected == present
