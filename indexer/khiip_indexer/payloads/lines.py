"""Line work on Markdown that the parser's tree does not keep: sections, items, times; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from khiip_indexer.markdown import parse_markdown, to_plain

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t](.*)$")
_FENCE = re.compile(r"^[ \t>]{0,12}(```+|~~~+)")
_ITEM = re.compile(r"^(\s*)[-*+][ \t]+(.*)$")
_PAIR = re.compile(r"^\s*[-*+][ \t]+\**([A-Za-z][A-Za-z /]{0,40}?)\**:\**[ \t]*(.*)$")
_LINK = re.compile(r"\[([^\[\]]*)\]\(<?([^()\s<>]*)>?\)")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it: lines `start` to `end` of the body, heading excluded."""

    level: int
    title: str
    heading: int
    start: int
    end: int


def headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (line index, level, text as written) of the ATX headings outside code fences."""
    for index, line in unfenced(lines):
        match = _HEADING.match(line) if "#" in line[:4] else None
        if match:
            title = match.group(2).strip()
            bare = title.rstrip("#")
            closed = bare != title and (not bare or bare[-1] in " \t")
            yield index, len(match.group(1)), bare.rstrip() if closed else title


def unfenced(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (index, line) of the lines outside code fences."""
    fence = ""
    for index, line in enumerate(lines):
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if match is None:
            if not fence:
                yield index, line
        elif not fence:
            fence = match.group(1)
        elif match.group(1).startswith(fence):
            fence = ""


def sections(lines: list[str]) -> list[Section]:
    """Return the sections; one ends at the next heading of its level or above."""
    found = list(headings(lines))
    ends: list[int] = [len(lines)] * len(found)
    open_: list[int] = []
    for position, (index, level, _) in enumerate(found):
        while open_ and found[open_[-1]][1] >= level:
            ends[open_.pop()] = index
        open_.append(position)
    return [
        Section(level, title, index, index + 1, end)
        for (index, level, title), end in zip(found, ends, strict=True)
    ]


def section(lines: list[str], *titles: str) -> Section | None:
    """Return the first section whose title, letters only and in any case, is one of `titles`."""
    wanted = {letters(title) for title in titles}
    return next((part for part in sections(lines) if letters(part.title) in wanted), None)


def letters(text: str) -> str:
    """Return a title's letters and digits in lower case: headings gain emoji and colons."""
    return "".join(c for c in text.lower() if c.isalnum())


def without(lines: list[str], *ranges: Iterable[int]) -> str:
    """Return the body with some lines emptied, so that the other lines keep their numbers."""
    gone = {index for part in ranges for index in part}
    return "\n".join("" if index in gone else line for index, line in enumerate(lines))


def pairs(lines: list[str], start: int = 0, end: int | None = None) -> dict[str, str]:
    """Read `- Key: value` items: {key in lower case: value as written}; the first wins."""
    found: dict[str, str] = {}
    for line in lines[start:end]:
        match = _PAIR.match(line)
        if match:
            found.setdefault(match.group(1).strip().lower(), match.group(2).strip())
    return found


def item(line: str) -> tuple[int, str] | None:
    """Return (indent in columns, text) of a list item's line."""
    match = _ITEM.match(line)
    return (len(match.group(1).expandtabs(4)), match.group(2)) if match else None


def unquote(line: str) -> str:
    """Return a line without its outermost `>` and the one space after it."""
    bare = line.lstrip()
    if not bare.startswith(">"):
        return line
    bare = bare[1:]
    return bare[1:] if bare.startswith(" ") else bare


def links(text: str) -> list[tuple[str, str]]:
    """Return (text, address) of the Markdown links in a line."""
    return _LINK.findall(text) if "](" in text else []


def plain(markdown: str) -> str:
    """Return a fragment of Markdown as a person reads it."""
    markdown = markdown.strip()
    if "\n" not in markdown:
        return to_plain(markdown).strip()
    return parse_markdown(markdown).text.strip()


def hashtags(text: str) -> tuple[str, ...]:
    """Return the `#tags` of a metadata line, and `[[tags]]` written as links, without marks."""
    found = re.findall(r"#([^\s#,\]]+)|\[\[([^\[\]|]+)", text)
    return tuple(dict.fromkeys((tag or link).strip() for tag, link in found))


def seconds(clock: str) -> float | None:
    """Return the seconds of `M:SS`, `H:MM:SS` or a bare number; None for anything else."""
    parts = clock.strip().split(":")
    if not 1 <= len(parts) <= 3 or not all(
        re.fullmatch(r"\d{1,5}(?:\.\d{1,3})?", p) for p in parts
    ):
        return None
    total = 0.0
    for part in parts:
        total = total * 60 + float(part)
    return total


def number(text: str | None) -> int | None:
    """Return the whole number a text starts with (`1,204 points`, `3.1k`), else None."""
    match = re.match(r"\s*([-−]?)(\d[\d,]*)(\.\d+)?\s?([kKmM]?)\b", text or "")
    if match is None or len(match.group(2)) > 15:
        return None
    scale = {"k": 1_000, "m": 1_000_000}.get(match.group(4).lower(), 1)
    value = float(match.group(2).replace(",", "") + (match.group(3) or "")) * scale
    return -int(value) if match.group(1) else int(value)


@dataclass(frozen=True, slots=True)
class QuoteRun:
    """Neighbouring `>` lines (`start` to `stop`) and the reader's text below them (to `after`)."""

    start: int
    stop: int
    after: int

    def quote(self, lines: list[str]) -> str:
        """Return the quotation without its outermost `>`."""
        return "\n".join(unquote(line) for line in lines[self.start : self.stop])

    def below(self, lines: list[str]) -> str:
        """Return what stands under the quotation."""
        return "\n".join(lines[self.stop : self.after])

    @property
    def span(self) -> range:
        return range(self.start, self.after)


_RULE_LINE = re.compile(r"^(?:-{3,}|\*{3,}|_{3,})\s*$")


def quote_runs(lines: list[str], start: int = 0, end: int | None = None) -> Iterator[QuoteRun]:
    """Yield the quotations; the text below one ends at a heading, a rule or the next quotation."""
    index, end = start, len(lines) if end is None else end
    while index < end:
        if not lines[index].startswith(">"):
            index += 1
            continue
        stop = index
        while stop < end and lines[stop].startswith(">"):
            stop += 1
        after = stop
        while after < end and not lines[after].startswith((">", "#")):
            if _RULE_LINE.match(lines[after]):
                break
            after += 1
        yield QuoteRun(index, stop, after)
        index = after
