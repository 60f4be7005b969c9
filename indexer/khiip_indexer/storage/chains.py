"""Which note owns an id, and which version of a chain is the current one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """A note that wants an id: because it says so (`declared`), or because of its path."""

    path: str
    declared: bool
    recorded_at: str


def owner(claims: Iterable[Claim]) -> Claim:
    """The note that keeps the id: one that says so before one that merely derives it, then the
    first recorded, then the first by path."""
    return min(claims, key=lambda claim: (not claim.declared, claim.recorded_at, claim.path))


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain: `older` was replaced by `newer` (ids)."""

    older: str
    newer: str


@dataclass(frozen=True, slots=True)
class Chains:
    """`heads` gives the current version's id for each member; `circular` are members of rings."""

    heads: dict[str, str]
    circular: frozenset[str]


def settle_chains(successors: Mapping[str, str], ages: Mapping[str, tuple[str, str]]) -> Chains:
    """Follow every chain to its end.

    `successors` maps an id to the id that replaces it; `ages` orders ids by (recorded_at, path).
    A ring has no end: its newest member is the head. Linear in the number of members.
    """
    heads: dict[str, str] = {}
    circular: set[str] = set()
    for start in successors:
        trail: list[str] = []
        on_trail: set[str] = set()
        here = start
        while here not in heads and here not in on_trail and here in successors:
            trail.append(here)
            on_trail.add(here)
            here = successors[here]
        if here in on_trail:
            ring = trail[trail.index(here) :]
            circular.update(ring)
            head = max(ring, key=lambda member: ages[member])
        else:
            head = heads.setdefault(here, here)
        heads.update(dict.fromkeys(trail, head))
    return Chains(heads, frozenset(circular))
