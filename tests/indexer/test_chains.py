"""Owners of ids and heads of supersession chains."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from khiip_indexer.storage.chains import Claim, owner, settle_chains


def test_the_first_recorded_keeps_the_id() -> None:
    late, early = Claim("a.md", True, "2026-02-01"), Claim("b.md", True, "2026-01-01")
    assert owner([late, early]) is early


def test_a_note_that_says_its_id_comes_before_one_that_derives_it() -> None:
    said, derived = Claim("b.md", True, "2026-02-01"), Claim("a.md", False, "2026-01-01")
    assert owner([derived, said]) is said


def ages(*names: str) -> dict[str, tuple[str, str]]:
    return {name: (f"2026-01-{n:02d}", name) for n, name in enumerate(names, 1)}


def test_every_version_leads_to_the_last() -> None:
    chains = settle_chains({"a": "b", "b": "c"}, ages("a", "b", "c"))
    assert chains.heads == {"a": "c", "b": "c", "c": "c"}
    assert not chains.circular


def test_two_versions_may_meet_in_one_successor() -> None:
    chains = settle_chains({"a": "c", "b": "c"}, ages("a", "b", "c"))
    assert set(chains.heads.values()) == {"c"}


def test_a_ring_is_headed_by_its_newest_and_said_to_be_one() -> None:
    chains = settle_chains({"a": "b", "b": "a", "tail": "a"}, ages("b", "a", "tail"))
    assert chains.heads == {"a": "a", "b": "a", "tail": "a"}
    assert chains.circular == {"a", "b"}


def test_a_chain_of_a_hundred_thousand_versions_is_followed_without_recursion() -> None:
    names = [str(n) for n in range(100_001)]
    chains = settle_chains(dict(pairwise(names)), {})
    assert set(chains.heads.values()) == {"100000"}


members = st.sampled_from("abcdefgh")


@given(st.dictionaries(members, members))
def test_a_head_is_its_own_head_and_everyone_has_one(successors: dict[str, str]) -> None:
    successors = {old: new for old, new in successors.items() if old != new}
    chains = settle_chains(successors, ages(*"abcdefgh"))
    assert chains.heads.keys() == {*successors, *successors.values()}
    assert all(chains.heads[head] == head for head in chains.heads.values())
