"""Importance: as written, else inferred, and said to be."""

from __future__ import annotations

import numpy as np
import pytest

from khiip_sidecar.memory.importance import importance_of, importances, is_pinned


@pytest.mark.parametrize("value", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_what_is_written_counts_whatever_links_there(value: float) -> None:
    assert importance_of(value, pinned=True, backlinks=99) == (value, "written")


@pytest.mark.parametrize(
    ("backlinks", "value"),
    [(0, 0.3), (1, 0.4), (2, 0.4585), (3, 0.5), (7, 0.6), (15, 0.7), (31, 0.8), (5000, 0.8)],
)
def test_what_is_not_written_grows_with_the_links_to_a_note(backlinks: int, value: float) -> None:
    assert importance_of(None, pinned=False, backlinks=backlinks) == (value, "inferred")


def test_a_pinned_note_matters_as_much_as_can_be_inferred() -> None:
    assert importance_of(None, pinned=True, backlinks=0) == (0.8, "inferred")


def test_a_note_counts_as_pinned_by_its_word_or_its_importance() -> None:
    assert is_pinned(0.3, pinned=True)
    assert is_pinned(0.9, pinned=False)
    assert not is_pinned(0.8999, pinned=False)


def test_many_notes_matter_as_much_as_each_of_them() -> None:
    backlinks = np.arange(1000)
    for pinned in (False, True):
        together = importances(np.full(1000, np.nan), np.full(1000, pinned), backlinks)
        assert together.tolist() == [
            importance_of(None, pinned=pinned, backlinks=n)[0] for n in range(1000)
        ]
    written = importances(np.array([0.1, 1.0]), np.array([True, False]), np.array([9, 9]))
    assert written.tolist() == [0.1, 1.0]
