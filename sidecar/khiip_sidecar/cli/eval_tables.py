"""Figures of an evaluation as tables for people and as data for programs; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from khiip_sidecar.cli.output import counted, cut, plain
from khiip_sidecar.evaluation.compare import Comparison, compare
from khiip_sidecar.evaluation.measures import Scores, mean, names
from khiip_sidecar.evaluation.run import Outcome, Setting

COLUMN = 9
DIGITS = 6
DIFFERENCE = "difference"
INDENT = "  "
COMPARED = (DIFFERENCE, "better", "equal", "worse", "p")


def summary_lines(
    outcomes: Sequence[Outcome], settings: Sequence[Setting], limit: int
) -> list[str]:
    """The measures of one setting, or of two side by side with what lies between them."""
    means = _means(outcomes, settings)
    compared = _compared(outcomes, limit) if len(settings) == 2 else {}
    asked = counted(len(outcomes), "query", "queries")
    head = [asked, *map(str, settings), *(COMPARED if compared else ())]
    rows = [
        [name, *(f"{each[name]:.4f}" for each in means), *_cells(compared.get(name))]
        for name in names(limit)
    ]
    return _table([head, *rows])


def verbose_lines(
    outcomes: Sequence[Outcome], settings: Sequence[Setting], limit: int, width: int
) -> Iterator[str]:
    """Every query with its measures, the worst first: the text cut to `width` columns."""
    labels = [*map(str, settings), *([DIFFERENCE] if len(settings) == 2 else [])]
    first = max(map(len, labels))
    yield _row("", names(limit), first)
    for outcome in worst_first(outcomes):
        query = outcome.query
        yield cut(" ".join(plain(f"{query.id}  {query.text}").split()), width)
        for label, scores in zip(labels, _scores_and_difference(outcome), strict=True):
            sign = "+" if label == DIFFERENCE else ""
            yield _row(label, [f"{scores[name]:{sign}.4f}" for name in names(limit)], first)


def worst_first(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """By nDCG@10: of two settings by what the second lost, of one by what it reached."""
    return sorted(outcomes, key=lambda outcome: tuple(_scores_and_difference(outcome)[-1].values()))


def report(
    outcomes: Sequence[Outcome], settings: Sequence[Setting], limit: int, *, verbose: bool
) -> dict[str, Any]:
    """All figures as data, rounded to six digits; queries one by one when `verbose`."""
    data: dict[str, Any] = {
        "queries": len(outcomes),
        "limit": limit,
        "settings": [
            {"match": setting.match, "rank": setting.rank, "measures": _rounded(scores)}
            for setting, scores in zip(settings, _means(outcomes, settings), strict=True)
        ],
    }
    if len(settings) == 2:
        compared = _compared(outcomes, limit)
        data["comparison"] = {name: _rounded(asdict(each)) for name, each in compared.items()}
    if verbose:
        data["per_query"] = [_query_view(outcome) for outcome in worst_first(outcomes)]
    return data


def _query_view(outcome: Outcome) -> dict[str, Any]:
    view: dict[str, Any] = {
        "id": outcome.query.id,
        "text": outcome.query.text,
        "measures": [_rounded(scores) for scores in outcome.scores],
    }
    if len(outcome.scores) == 2:
        view[DIFFERENCE] = _rounded(_scores_and_difference(outcome)[-1])
    return view


def _means(outcomes: Sequence[Outcome], settings: Sequence[Setting]) -> list[Scores]:
    return [mean([outcome.scores[at] for outcome in outcomes]) for at in range(len(settings))]


def _compared(outcomes: Sequence[Outcome], limit: int) -> dict[str, Comparison]:
    return {
        name: compare(
            [outcome.scores[0][name] for outcome in outcomes],
            [outcome.scores[1][name] for outcome in outcomes],
        )
        for name in names(limit)
    }


def _scores_and_difference(outcome: Outcome) -> list[Scores]:
    if len(outcome.scores) == 1:
        return list(outcome.scores)
    before, after = outcome.scores
    return [before, after, {name: after[name] - before[name] for name in after}]


def _cells(compared: Comparison | None) -> list[str]:
    if compared is None:
        return []
    counts = (compared.better, compared.equal, compared.worse)
    return [f"{compared.difference:+.4f}", *(f"{each:,}" for each in counts), _chance(compared.p)]


def _chance(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names to the left, numbers to the right, two blanks between."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        INDENT.join(
            [
                first.ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)),
            ]
        )
        for first, *rest in rows
    ]


def _row(label: str, cells: Sequence[str], first: int) -> str:
    return f"{INDENT}{label.ljust(first)}" + "".join(f"{INDENT}{cell:>{COLUMN}}" for cell in cells)


def _rounded(numbers: dict[str, Any]) -> dict[str, Any]:
    return {
        name: round(each, DIGITS) if isinstance(each, float) else each
        for name, each in numbers.items()
    }
