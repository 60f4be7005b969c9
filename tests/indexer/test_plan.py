"""Deciding what a sync has to do, without any file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.syncing.plan import Changes, compare, looks_lost, resolve
from khiip_indexer.types import Fingerprint

LATER = 10_000_000_000_000


def seen(size: int = 1, mtime: int = 1) -> Fingerprint:
    return Fingerprint(size, mtime, mtime, 7)


def test_only_new_fingerprints_are_opened() -> None:
    plan = compare({"a.md": seen(), "b.md": seen(2)}, {"a.md": seen(), "b.md": seen()}, LATER)
    assert plan.suspects == ("b.md",)
    assert plan.unchanged == 1


def test_a_file_written_while_the_last_sync_ran_is_opened_again() -> None:
    fresh = seen(mtime=LATER - 1)
    assert compare({"a.md": fresh}, {"a.md": fresh}, LATER).suspects == ("a.md",)


def test_a_touch_is_not_an_edit() -> None:
    changes = resolve({"a.md": b"same"}, {"a.md": b"same"}, ())
    assert changes == Changes((), (), ("a.md",), (), ())


def test_a_missing_note_whose_content_arrives_elsewhere_has_moved() -> None:
    changes = resolve({"new/a.md": b"x"}, {"a.md": b"x"}, ("a.md",))
    assert changes.moved == (("a.md", "new/a.md"),)
    assert changes.added == changes.removed == ()


def test_of_equal_notes_the_one_with_the_same_file_name_is_the_one_that_moved() -> None:
    stored = {"one/a.md": b"", "one/b.md": b""}
    changes = resolve({"two/b.md": b"", "two/a.md": b""}, stored, ("one/a.md", "one/b.md"))
    assert set(changes.moved) == {("one/a.md", "two/a.md"), ("one/b.md", "two/b.md")}


def test_a_copy_is_a_new_note_while_the_first_is_still_there() -> None:
    changes = resolve({"copy.md": b"x"}, {"a.md": b"x"}, ())
    assert changes.added == ("copy.md",)


def test_more_copies_than_missing_notes_leave_the_rest_as_new() -> None:
    changes = resolve({"b.md": b"x", "c.md": b"x"}, {"a.md": b"x"}, ("a.md",))
    assert len(changes.moved) == len(changes.added) == 1


def test_few_or_some_deletions_are_a_person_most_at_once_is_a_lost_drive() -> None:
    assert not looks_lost(stored=8, removed=8)
    assert not looks_lost(stored=100, removed=50)
    assert looks_lost(stored=100, removed=51)


paths = st.dictionaries(st.sampled_from([f"{n}.md" for n in range(8)]), st.binary(max_size=1))


@given(paths, paths)
def test_every_path_ends_up_in_exactly_one_place(
    disk: dict[str, bytes], known: dict[str, bytes]
) -> None:
    missing = tuple(path for path in known if path not in disk)
    changes = resolve(disk, known, missing)
    arrived = [new for _, new in changes.moved]
    left = [old for old, _ in changes.moved]
    assert sorted([*changes.added, *changes.changed, *changes.touched, *arrived]) == sorted(disk)
    assert sorted([*changes.removed, *left]) == sorted(missing)
