"""Reads frontmatter that is not valid YAML line by line: one bad value costs only itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import dedent

from khiip_indexer.fields.yaml_text import YamlError, load_yaml, put_first
from khiip_indexer.types import Value

# `key: value` at the left edge; the first colon before a space or the line's end ends the key.
_KEY = re.compile(
    r"""(?P<key>"[^"\n]{1,200}"|'[^'\n]{1,200}'|[^\s#*>|?&!%`"'\[\]{},:-][^\n]{0,99}?)"""
    r":(?=[ \t]|$)(?P<value>.*)"
)
# `key:value` without the space, a slip of the hand; `https://…` is none.
_TIGHT_KEY = re.compile(r"(?P<key>[A-Za-z][\w-]{0,39}):(?!//)(?P<value>\S.*)")
_PLACEHOLDER_LINE = re.compile(r"[ \t]*(?:\{\{|<%|[-_]?%>)")
_BULLET = re.compile(r"[ \t]*[-*+](?:[ \t]+|$)")
_LINK = re.compile(r"\[\[[^\[\]\n]{1,500}\]\]")
_BLOCK_HEADER = re.compile(r"[|>][+-]?\d?[+-]?$")
# A quoted value that runs on is looked for this far; a whole note behind a stray quote is not.
_MAX_QUOTED_LINES = 200
_MAX_PARSED_ENTRIES = 1000
_MAX_NESTING = 4


@dataclass(slots=True)
class Entry:
    """One key with the lines that belong to it; `line` counts from 0 in the block."""

    key: str
    value: str
    line: int
    rest: list[str] = field(default_factory=list)
    tight: bool = False
    written: str = ""

    @property
    def text(self) -> str:
        return "\n".join((self.written, *self.rest))


@dataclass(slots=True)
class Sheet:
    """A block cut into entries; `strays` counts lines that belong to no key.

    `open_quote` says that some quoted value does not end within the block.
    """

    entries: list[Entry] = field(default_factory=list)
    strays: int = 0
    open_quote: bool = False

    @property
    def plausible(self) -> bool:
        """Whether this is metadata at all, and not a letterhead between two rules."""
        return self.strays < len(self.entries)


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry that was taken literally: its line (from 0), the parser's reason, its text."""

    line: int
    reason: str
    text: str


@dataclass(slots=True)
class Recovered:
    metadata: dict[str, Value] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    repeated: list[tuple[str, int]] = field(default_factory=list)


def cut_entries(block: str) -> Sheet:
    """Cut a frontmatter block into entries, one a key at the left edge; linear, never raises."""
    sheet = Sheet()
    lines = block.split("\n")
    number = 0
    while number < len(lines):
        number = _take_line(sheet, lines, number)
    return sheet


def _take_line(sheet: Sheet, lines: list[str], number: int) -> int:
    """Give one line to its entry, or start one; the number of the next line to look at."""
    line = lines[number]
    last = sheet.entries[-1] if sheet.entries else None
    if match := _KEY.match(line) or _TIGHT_KEY.match(line):
        return _start_entry(sheet, lines, number, match)
    if not line.strip() or line.startswith("#"):
        if last is not None and last.rest:
            last.rest.append(line if not line.strip() else "")
        return number + 1
    belongs = line[0] in " \t" or (_BULLET.match(line) and last is not None and not last.value)
    if not belongs and not _PLACEHOLDER_LINE.match(line):
        sheet.strays += 1
    if last is not None:
        last.rest.append(line)
    return number + 1


def _start_entry(sheet: Sheet, lines: list[str], number: int, match: re.Match[str]) -> int:
    key, value = match["key"].strip(), match["value"].strip()
    if key[0] in "\"'":
        key = key[1:-1]
    entry = Entry(key, value, number, tight=match.re is _TIGHT_KEY, written=lines[number])
    sheet.entries.append(entry)
    if not _is_open(value):
        return number + 1
    end = _closing_line(lines, number + 1, value[0])
    if end is None:
        sheet.open_quote = True
        return number + 1
    entry.rest.extend(lines[number + 1 : end + 1])
    return end + 1


def _is_open(value: str) -> bool:
    """Whether a value starts with a quote that does not end on its line."""
    if value[:1] not in ("'", '"'):
        return False
    return len(value) == 1 or not value.endswith(value[0])


def _closing_line(lines: list[str], start: int, quote: str) -> int | None:
    """The line that ends a quoted value; another `key: "value"` on the way means there is none."""
    for number in range(start, min(len(lines), start + _MAX_QUOTED_LINES)):
        line = lines[number].rstrip()
        match = _KEY.match(line)
        if match and match["value"].strip()[:1] == quote:
            return None
        if line.endswith(quote):
            return number
    return None


def recover(sheet: Sheet, depth: int = 0) -> Recovered:
    """Read each entry by itself; one that the parser refuses is taken as it is written."""
    result = Recovered()
    for count, entry in enumerate(sheet.entries):
        value = _read_entry(entry, result, depth, parse=count < _MAX_PARSED_ENTRIES)
        put_first(result.metadata, entry.key, value, entry.line, result.repeated)
    return result


def _read_entry(entry: Entry, result: Recovered, depth: int, *, parse: bool) -> Value:
    reason, line = "expected a space after the colon", entry.line
    if parse and not entry.tight:
        try:
            value = load_yaml(entry.text + "\n").value
        except YamlError as error:
            reason = error.reason
            line += min(entry.text.count("\n", 0, error.index), len(entry.rest))
        else:
            if isinstance(value, dict) and len(value) == 1:
                return next(iter(value.values()))
            reason = "not a single key and value"
    result.broken.append(Broken(line, reason, entry.text))
    return _literal(entry, depth)


def _literal(entry: Entry, depth: int) -> Value:
    value, rest = entry.value, [line for line in entry.rest if line.strip()]
    if value[:1] in ("'", '"') and value != value[0]:
        return _unquote("\n".join((value, *entry.rest)).rstrip())
    if not value:
        return _children(rest, depth) if rest else None
    if _BLOCK_HEADER.match(value):
        return dedent("\n".join(entry.rest)).strip("\n")
    return _plain(" ".join((value, *(line.strip() for line in rest))))


def _plain(text: str) -> Value:
    """A scalar as written; a row of links, or `[a, b]` that is no YAML, is still a list."""
    if text.startswith("[["):
        links = _LINK.findall(text)
        if len(links) > 1 and not _LINK.sub("", text).strip(" \t,;"):
            return list(links)
        return text
    if text.startswith("[") and text.endswith("]"):
        parts = (_unquote(part.strip()) for part in text[1:-1].split(","))
        return [part for part in parts if part]
    return text


def _unquote(text: str) -> str:
    r"""Take the quotes off and fold lines as YAML does; only `\"` is an escape.

    What writes such values escapes the quote and nothing else, so `C:\new` is a path.
    """
    quote = text[:1]
    if quote not in ("'", '"'):
        return text
    inner = text[1:]
    if inner.endswith(quote):
        inner = inner[:-1]
    elif quote in inner:
        return text  # `"Rules" of work`: the quotes are part of what is said
    inner = inner.replace('\\"', '"') if quote == '"' else inner.replace("''", "'")
    paragraphs = re.split(r"\n[ \t]*\n", inner)
    return "\n".join(" ".join(line.strip() for line in part.split("\n")) for part in paragraphs)


def _children(lines: list[str], depth: int) -> Value:
    """Indented lines under a key without a value: a list, a mapping, else the lines as a list."""
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    edge = [line for line in lines if not line[margin : margin + 1].isspace()]
    if all(_BULLET.match(line) for line in edge):
        return _items(lines, margin)
    sheet = cut_entries(dedent("\n".join(lines)))
    if sheet.entries and not sheet.strays and depth < _MAX_NESTING:
        nested: Value = dict(recover(sheet, depth + 1).metadata)
        return nested
    texts: list[Value] = [line.strip() for line in lines]
    return texts


def _items(lines: list[str], margin: int) -> list[Value]:
    groups: list[list[str]] = []
    for line in lines:
        if not line[margin : margin + 1].isspace():
            groups.append([line])
        else:
            groups[-1].append(line)
    return [_item(group, parse=n < _MAX_PARSED_ENTRIES) for n, group in enumerate(groups)]


def _item(group: list[str], *, parse: bool) -> Value:
    first = _BULLET.sub("", group[0], count=1).rstrip()
    if parse and group[0].lstrip().startswith("-"):
        try:
            value = load_yaml(dedent("\n".join(group))).value
        except YamlError:
            pass  # the entry as a whole is already reported; this item is taken as written
        else:
            if isinstance(value, list) and len(value) == 1:
                return value[0]
    text = " ".join((first, *(line.strip() for line in group[1:])))
    return _unquote(text) if text[:1] in ("'", '"') else _plain(text)
