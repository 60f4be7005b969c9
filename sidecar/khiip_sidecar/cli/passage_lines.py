"""The best passage of a hit in a terminal, with what matched made bold; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from khiip_sidecar.cli.output import Paint, columns, plain

MOST_LINES = 3


def passage_lines(passage: Mapping[str, Any], paint: Paint, width: int) -> list[str]:
    """At most three lines of the passage's text, each in `width` columns, then where it stands."""
    text = "".join(" " if char.isspace() else plain(char) for char in passage["text"])
    marked = {at for start, end in passage["ranges"] for at in range(start, end)}
    lines = [
        "".join(
            paint(text[at], fg="yellow", bold=True) if at in marked else text[at] for at in line
        )
        for line in _wrapped(text, width)
    ]
    where = _where(passage)
    return [*lines, paint(where, dim=True)] if where else lines


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
