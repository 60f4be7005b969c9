"""Data on stdout, words to the person on stderr, each written in one place."""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable
from typing import TextIO

import click

from khiip_indexer.errors import KhiipError
from khiip_indexer.types import Problem
from khiip_sidecar.wire.encode import error_body, to_json

Paint = Callable[..., str]
PIPED_WIDTH = 100
_STEERING = ("Cc", "Zl", "Zp")


def write(text: str) -> None:
    """One piece of data on stdout, with a line end; names that are no Unicode stay their bytes."""
    click.echo(_encoded(text, getattr(sys.stdout, "encoding", None) or "utf-8"))


def write_json(data: object) -> None:
    """Data as the REST service sends it: compact, UTF-8, whatever the terminal speaks."""
    click.echo(to_json(data))


def say(line: str) -> None:
    """One line to the person, on stderr."""
    encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
    click.echo(line.encode(encoding, "replace"), err=True)


def show_error(error: KhiipError, *, as_json: bool = False) -> None:
    """An error as a sentence and a hint, or as the JSON that REST answers with."""
    if as_json:
        click.echo(to_json(error_body(error)), err=True)
        return
    say(f"khiipd: {plain(error.sentence)}")
    if error.hint:
        say(f"  {plain(error.hint)}")


def problem_line(problem: Problem) -> str:
    """`path:line: reason`, as compilers and editors have it."""
    where = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
    return plain(f"{where}: {problem.reason}")


def plain(text: str) -> str:
    """One line without control characters: a note must not be able to steer the terminal."""
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(char) in _STEERING else char for char in text)


def cut(text: str, width: int) -> str:
    """As much of a line as fits into `width` columns, `…` where it was cut."""
    if columns(text) <= width:
        return text
    room, kept = width - 1, []
    for char in text:
        room -= columns(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def columns(text: str) -> int:
    """How wide a terminal shows a text: East Asian wide characters take two columns."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(char) for char in text)


def _columns_of(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def width_of(stream: TextIO) -> int:
    """Columns of the terminal behind a stream; a fixed number when there is none."""
    return shutil.get_terminal_size().columns if stream.isatty() else PIPED_WIDTH


def painter(stream: TextIO) -> Paint:
    """`click.style` for a terminal that wants colour, else a function that leaves text alone."""
    wanted = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return click.style if wanted else _unpainted


def _unpainted(text: str, **_style: object) -> str:
    return text


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 note`, `1,200 notes`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _encoded(text: str, encoding: str) -> bytes:
    try:
        return text.encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        return text.encode(encoding, "replace")


def write_pretty(data: object) -> None:
    """A record as indented JSON, for a person to read."""
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    click.echo(text.encode("utf-8", "backslashreplace"))
