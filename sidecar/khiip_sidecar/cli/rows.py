"""Captures as a person reads them in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from khiip_sidecar.cli.output import Paint, cut, painter, plain, width_of, write, write_pretty
from khiip_sidecar.cli.passage_lines import passage_lines

INDENT = " " * 7


def show_captures(items: Sequence[Mapping[str, Any]], view: str) -> None:
    """Rows in the lean view, whole records in the full one."""
    if view == "full":
        for item in items:
            write_pretty(item)
        return
    paint, width = painter(sys.stdout), width_of(sys.stdout)
    for row in items:
        for line in row_lines(row, paint, width):
            write(line)


def row_lines(row: Mapping[str, Any], paint: Paint, width: int) -> list[str]:
    """Score and title; where it is from; the beginning of what it says, on one line.

    The title and the path are never cut: they are what a person goes on with.
    """
    score = row.get("score")
    first = "" if score is None else paint(f"{score:.3f}".ljust(len(INDENT)), fg="green")
    indent = "  " if score is None else INDENT
    lines = [first + paint(plain(row["title"]), bold=True), indent + _origin(row, paint)]
    lines += [indent + line for line in _body(row, paint, width - len(indent))]
    if row.get("match_reasons"):
        lines.append(indent + paint(_why(row), dim=True))
    return lines


def _body(row: Mapping[str, Any], paint: Paint, width: int) -> list[str]:
    if row.get("passage"):
        return passage_lines(row["passage"], paint, width)
    excerpt = cut(" ".join(plain(row["excerpt"]).split()), width)
    return [excerpt] if excerpt else []


def _why(row: Mapping[str, Any]) -> str:
    """The composite with its parts, and the reasons."""
    parts = " ".join(f"{name} {value:.2f}" for name, value in row["score_breakdown"].items())
    return f"{row['composite']:.3f} = {parts} · {', '.join(row['match_reasons'])}"


def _origin(row: Mapping[str, Any], paint: Paint) -> str:
    parts = [row["source"], row["author"], row["recorded_at"][:10]]
    before = " · ".join(plain(part) for part in parts if part)
    marks = "".join(f" [{mark}]" for mark in ("stale", "weak") if row.get(mark))
    return paint(f"{before} · ", dim=True) + paint(plain(row["vault_path"]), fg="cyan") + marks
