"""The best passage of a hit in a terminal, with what matched made bold; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from khiip_sidecar.cli.output import Paint, columns, plain

MOST_LINES = 3


def passage_lines(passage: Mapping[str, Any], paint: Paint, width: int) -> list[str]:
    """At most three lines of the passage's text, each in `width` columns, then where it stands."""
    text = "".join(" " if char.isspace() else plain(char) for char in passage["text"])
    marked = {at for start, end in passage["ranges"] for at in range(start, end)}
    lines = ["".join(_painted(text, line, marked, paint)) for line in _wrapped(text, width)]
    where = _where(passage)
    return [*lines, paint(where, dim=True)] if where else lines


def _painted(text: str, line: range, marked: set[int], paint: Paint) -> Iterator[str]:
    """Each stretch as a whole: letters that join are torn apart by codes between them."""
    for is_marked, places in groupby(line, marked.__contains__):
        stretch = "".join(text[at] for at in places)
        yield paint(stretch, fg="yellow", bold=True) if is_marked else stretch


def _where(passage: Mapping[str, Any]) -> str:
    heading = plain(passage["heading"] or "")
    line = "" if passage["line"] is None else f"line {passage['line']}"
    return " · ".join(part for part in (heading, line) if part)


def _wrapped(text: str, width: int) -> Iterator[range]:
    """Stretches of the text that fit, broken at blanks where there are any; three at most."""
    start = 0
    for _ in range(MOST_LINES):
        while start < len(text) and text[start] == " ":
            start += 1
        if start >= len(text):
            return
        end = _end(text, start, width)
        yield range(start, end)
        start = end


def _end(text: str, start: int, width: int) -> int:
    room, at = width, start
    while at < len(text) and room >= columns(text[at]):
        room -= columns(text[at])
        at += 1
    at = max(at, start + 1)
    if at == len(text) or text[at] == " ":
        return at
    blank = text.rfind(" ", start, at)
    return blank if blank > start else at
