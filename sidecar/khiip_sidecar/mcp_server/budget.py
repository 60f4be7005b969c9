"""How many tokens an answer costs a language model, and how it is made to fit; pure."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from khiip_sidecar.tokens import tokens_in
from khiip_sidecar.wire.encode import Json, to_json

# For what is added last: how many were returned, how to go on.
RESERVED = 90
# Excerpts are shortened in these steps before a row is left out.
STEPS = (400, 300, 200, 120, 60, 0)
LONGEST_DESCRIPTION = 200
SHORTENED = ("excerpt", "description")


def tokens_of(data: object) -> int:
    """About how many tokens data costs that is sent as JSON."""
    return tokens_in(to_json(data).decode())


@dataclass(frozen=True, slots=True)
class Fitted:
    """Rows that fit; `excerpt_chars` is how long excerpts may be now, None when as asked."""

    rows: list[Json]
    left_out: int = 0
    excerpt_chars: int | None = None


def fit_rows(rows: Sequence[Json], room: int) -> Fitted:
    """Rows in order within `room` tokens: excerpts shorter first, then fewer rows; at least one."""
    if _cost(rows) <= room:
        return Fitted(list(rows))
    for step in STEPS:
        shorter = [shortened(row, step) for row in rows]
        if _cost(shorter) <= room:
            return Fitted(shorter, 0, step)
    return _fewer([shortened(row, STEPS[-1]) for row in rows], room)


def _fewer(rows: Sequence[Json], room: int) -> Fitted:
    kept: list[Json] = []
    used = 0
    for row in rows:
        used += tokens_of(row) + 1
        if kept and used > room:
            break
        kept.append(row)
    return Fitted(kept, len(rows) - len(kept), STEPS[-1])


def _cost(rows: Sequence[Json]) -> int:
    return sum(tokens_of(row) + 1 for row in rows)


def shortened(row: Json, most: int) -> Json:
    """A row with at most so many characters of its excerpt, and a description of modest length."""
    short = dict(row)
    for name, length in (("excerpt", most), ("description", max(most, LONGEST_DESCRIPTION))):
        text = short.get(name)
        if isinstance(text, str):
            short[name] = cut(text, length)
    if isinstance(passage := short.get("passage"), dict):
        short["passage"] = _cut_passage(passage, max(most, LONGEST_DESCRIPTION))
    return short


def cut(text: str, most: int) -> str:
    """At most so many characters, then one `…` when there was more."""
    return text if len(text) <= most + 1 else f"{text[:most]}…" if most else ""


def _cut_passage(passage: Json, most: int) -> Json:
    text = cut(passage["text"], most)
    ranges = [each for each in passage["ranges"] if each[1] <= most]
    return {**passage, "text": text, "ranges": ranges}


def fit_lists(answer: Json, names: Sequence[str], room: int) -> dict[str, int]:
    """Shorten the lists of an answer in place until it fits; what each held before, by name.

    The costliest list is halved each time, so that none disappears before the others are short.
    """
    before: dict[str, int] = {}
    costs = {name: tokens_of(answer[name]) for name in names if answer.get(name)}
    rest = tokens_of({name: value for name, value in answer.items() if name not in costs})
    while costs and rest + sum(costs.values()) > room:
        name = max(costs, key=lambda each: costs[each])
        whole = answer[name]
        before.setdefault(name, len(whole))
        answer[name] = copy(whole[: len(whole) // 2])
        costs[name] = tokens_of(answer[name])
        if not answer[name]:
            del costs[name]
    return before
