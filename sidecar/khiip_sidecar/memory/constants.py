"""Every number that memory is computed with, and the table that the README shows of them."""

from __future__ import annotations

HOUR = 3600.0
DAY = 24 * HOUR
WEEK = 7 * DAY

# Parts of a composite are rounded to this many digits before they are weighed.
DIGITS = 4
_SCALE = 10_000.0

# composite
RELEVANCE_WEIGHT = 0.45
HEAT_WEIGHT = 0.25
MOMENTUM_WEIGHT = 0.15
IMPORTANCE_WEIGHT = 0.15

# heat: exp(-t / S), S = STRENGTH_DAYS * (1 + importance) * (1 + PER_ACCESS * ln(1 + accesses))
STRENGTH_DAYS = 30.0
STRENGTH_PER_ACCESS = 0.5
HEAT_BANDS = ((0.70, "hot"), (0.40, "warm"), (0.20, "cold"), (0.0, "frozen"))
PROTECTED_HEAT = 0.40
PROTECTED_LAYER = "caveat"

# momentum of an entity, 0 to 10; steps are (at least, points), the first that holds counts
MOST_MOMENTUM = 10.0
QUALITY_WEIGHT = 0.4
VELOCITY_WEIGHT = 0.3
VOLUME_WEIGHT = 0.3
VELOCITY_DAY = ((3, 10.0), (1, 7.0))
VELOCITY_WEEK = ((3, 4.0), (1, 2.0))
VOLUME = ((3.0, 10.0), (2.0, 7.0), (1.0, 4.0))
VOLUME_BELOW = 4.0
FIRST_ACTIVITY = 5.0
MOMENTUM_BANDS = ((7.0, "surging"), (4.0, "active"), (1.5, "quiet"), (0.0, "dormant"))
# A note is recorded, then first saved or committed: what lies this near is one event.
SAME_EVENT = DAY

# importance
LEAST_INFERRED = 0.3
MOST_INFERRED = 0.8
PER_DOUBLING = 0.1
PINNED_IMPORTANCE = 0.9
HIGH_IMPORTANCE = 0.8


def rounded(value: float) -> float:
    """A value to four digits, by the very steps that NumPy takes: one note or many, one answer."""
    return round(value * _SCALE) / _SCALE


def markdown_table() -> str:
    """The constants and formulas of memory as a Markdown table, for the README."""
    lines = ["| what | formula | meaning |", "| --- | --- | --- |"]
    lines += [f"| {what} | {formula} | {meaning} |" for what, formula, meaning in _rows()]
    return "\n".join(lines)


def _rows() -> list[tuple[str, str, str]]:
    return [*_composite_rows(), *_heat_rows(), *_momentum_rows(), *_importance_rows()]


def _composite_rows() -> list[tuple[str, str, str]]:
    return [
        (
            "composite",
            f"{RELEVANCE_WEIGHT} relevance + {HEAT_WEIGHT} heat + {MOMENTUM_WEIGHT} momentum / 10 "
            f"+ {IMPORTANCE_WEIGHT} importance",
            f"what `rank=composite` orders by; each part in [0, 1], rounded to {DIGITS} digits "
            "before it is weighed",
        )
    ]


def _heat_rows() -> list[tuple[str, str, str]]:
    return [
        (
            "heat",
            "exp(-t / S)",
            "Ebbinghaus retention; t: days since the last access or, of a note never read, since "
            "its last edit or `recorded_at`, whichever is later; a date in the future is now; the "
            "file's own time counts only where nothing else dates a note",
        ),
        (
            "strength S",
            f"{STRENGTH_DAYS:g} (1 + importance) (1 + {STRENGTH_PER_ACCESS} ln(1 + accesses)) days",
            "what is read often or matters fades slowly: importance 0.3 and never read, a note is "
            "hot for 13 days and frozen after 62; read ten times, it is hot for 30",
        ),
        ("heat bands", _bands(HEAT_BANDS), "`band`, `heat:hot`, `heat:warm`"),
        (
            "heat, protected",
            f"at least {PROTECTED_HEAT:.2f}",
            f"`{PROTECTED_LAYER}` notes and pinned ones never fall below warm; `caveat_protected` "
            "where that lifted a caveat",
        ),
        (
            "pinned",
            f"`pinned: true`, or importance >= {PINNED_IMPORTANCE}",
            "what `pinned` in `match_reasons` and `pinned_count` mean",
        ),
    ]


def _momentum_rows() -> list[tuple[str, str, str]]:
    return [
        (
            "momentum",
            f"{QUALITY_WEIGHT} quality + {VELOCITY_WEIGHT} velocity + {VOLUME_WEIGHT} volume",
            "of an entity, 0 to 10; 0 when nothing happened for 7 days; a note takes its most "
            "active entity's; an event is a note about it created or edited",
        ),
        (
            "quality",
            "10 x mean importance",
            "of the notes with an event in the last 7 days",
        ),
        (
            "velocity",
            f"24 hours: {_steps(VELOCITY_DAY)}; else 7 days: {_steps(VELOCITY_WEEK)}; else 0",
            "how many events there were",
        ),
        (
            "volume",
            f"{_steps(VOLUME, 'x ')}; else ratio x {VOLUME_BELOW:g}; "
            f"first activity {FIRST_ACTIVITY:g}",
            "events of the last 7 days against the weekly average, which is all events over the "
            "weeks since the first (at least one); first activity: no event is older than 7 days",
        ),
        ("momentum bands", _bands(MOMENTUM_BANDS), "`entity_active` for active and surging"),
    ]


def _importance_rows() -> list[tuple[str, str, str]]:
    return [
        (
            "importance",
            f"as written; else {MOST_INFERRED} when pinned, else {LEAST_INFERRED} + "
            f"{PER_DOUBLING} log2(1 + backlinks), at most {MOST_INFERRED}",
            "backlinks: current notes that name this one; `importance_from` says which; "
            f"`high_importance` from {HIGH_IMPORTANCE} on",
        )
    ]


def _bands(bands: tuple[tuple[float, str], ...]) -> str:
    named = [f"{name} >= {least:g}" for least, name in bands[:-1]]
    return f"{', '.join(named)}, else {bands[-1][1]}"


def _steps(steps: tuple[tuple[float, float], ...], unit: str = "") -> str:
    return ", ".join(f">= {least:g}{unit.strip()} {points:g}" for least, points in steps)
