"""An entity overview and a file history as a person reads them in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from khiip_sidecar.cli.output import Paint, columns, counted, cut, painter, plain, width_of, write

MOST_DAYS = 14
MOST_INTENTS = 20
LAYERS = ("goal", "context", "emotion", "implementation", "caveat", "learning")
_BAR = 30


def show_overview(answer: Mapping[str, Any]) -> None:
    """One line an entity: momentum, its band, the name, and what there is about it."""
    paint = painter(sys.stdout)
    widest = max((columns(plain(row["name"])) for row in answer["entities"]), default=0)
    for row in answer["entities"]:
        name = plain(row["name"])
        parts = [
            paint(f"{row['momentum_score']:4.1f}", fg="green"),
            row["momentum_band"].ljust(7),
            paint(name, bold=True) + " " * (widest - columns(name)),
            ", ".join(_counts(row)),
        ]
        write("  ".join(parts))


def _counts(row: Mapping[str, Any]) -> Iterator[str]:
    yield counted(row["memory_count"], "note")
    for layer in LAYERS:
        if row[f"{layer}_count"]:
            yield f"{row[f'{layer}_count']} {layer}"
    if row["pinned_count"]:
        yield f"{row['pinned_count']} pinned"
    if row["kind"] != "other":
        yield row["kind"]


def show_history(answer: Mapping[str, Any]) -> None:
    """Paths, days as bars, intents, and the notes that have to do with them."""
    for line in history_lines(answer, painter(sys.stdout), width_of(sys.stdout)):
        write(line)


def history_lines(answer: Mapping[str, Any], paint: Paint, width: int) -> Iterator[str]:
    """The lines of a history."""
    yield _summary(answer)
    for each in answer["paths_matched"]:
        yield f"  {each['edits']:5}  {paint(plain(each['path']), fg='cyan')}"
    yield from _days(answer["daily_breakdown"], paint)
    for each in answer["user_intents"][:MOST_INTENTS]:
        times = f" (×{each['occurrences']})" if each["occurrences"] > 1 else ""
        intent = plain(each["intent"].partition("\n")[0])
        yield cut(f"  {each['when'][:10]}  {intent}{times}", width)
    for each in answer["linked_memories"]:
        about = " ".join(plain(each["preview"]).split())
        yield cut(f"  {each['id']}  {plain(each['title'])}: {about}", width)


def _summary(answer: Mapping[str, Any]) -> str:
    edits = counted(answer["total_edits"], "edit")
    sessions = counted(answer["sessions_involved"], "session")
    when = ""
    if answer["first_edit"]:
        when = f", {answer['first_edit'][:10]} to {answer['last_edit'][:10]}"
    return f"{edits} in {sessions}{when} (from {plain(answer['history_state'])})"


def _days(days: Sequence[Mapping[str, Any]], paint: Paint) -> Iterator[str]:
    by_day: dict[str, int] = {}
    for each in days:
        by_day[each["day"]] = by_day.get(each["day"], 0) + each["edits"]
    most = max(by_day.values(), default=1)
    for day, edits in list(by_day.items())[:MOST_DAYS]:
        bar = "▇" * max(1, round(_BAR * edits / most))
        yield f"  {day}  {paint(bar, fg='green')} {edits}"
