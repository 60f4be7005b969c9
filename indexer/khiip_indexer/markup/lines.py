"""Markdown read by simple rules, line by line: for text that the parser cannot take."""

from __future__ import annotations

import re

from khiip_indexer.markup.blocks import join_blocks
from khiip_indexer.markup.marks import tags_in
from khiip_indexer.markup.obsidian import trim_url, wikilink, wikilink_text
from khiip_indexer.types import Block, BlockKind, Body, Heading, Link

_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})")
_CONTAINERS = re.compile(r"[ \t>]*(?:[-*+][ \t>]+|\d{1,9}[.)][ \t]+)*")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,2000})\]\]")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,2000})\]\(([^()\s]{0,2000})\)")
_EMPHASIS = re.compile(r"\*\*|__|~~|==|`+")
_URL = re.compile(r"https?://[^\s<>\[\]\"`|]+")


def read_lines(source: str, first_line: int) -> Body:
    """Read a cleaned source without a parser; nesting and emphasis do not matter here."""
    reader = _LineReader()
    for number, line in enumerate(source.split("\n"), first_line):
        reader.read(line, number)
    reader.close()
    return Body(
        text=join_blocks(reader.blocks),
        blocks=tuple(reader.blocks),
        headings=tuple(reader.headings),
        links=tuple(reader.links),
        tags=tuple(reader.tags),
        urls=tuple(reader.urls),
        fallback=True,
    )


class _LineReader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.headings: list[Heading] = []
        self.links: list[Link] = []
        self.tags: dict[str, None] = {}
        self.urls: dict[str, None] = {}
        self._lines: list[str] = []
        self._start = 0
        self._fenced = False

    def read(self, line: str, number: int) -> None:
        if _FENCE.match(line):
            self.close()
            self._fenced = not self._fenced
            return
        text = line.rstrip() if self._fenced else self._plain(line)
        if not self._fenced and (match := _HEADING.match(text)):
            self.close()
            self.headings.append(Heading(len(match[1]), match[2], number))
            self.blocks.append(Block("heading", match[2], number, len(match[1])))
        elif text:
            self._start = self._start or number
            self._lines.append(text)
        elif not self._fenced:
            self.close()

    def close(self) -> None:
        """End the paragraph or the code that is open."""
        if self._lines:
            kind: BlockKind = "code" if self._fenced else "paragraph"
            self.blocks.append(Block(kind, "\n".join(self._lines), self._start))
        self._lines, self._start = [], 0

    def _plain(self, line: str) -> str:
        match = _CONTAINERS.match(line)
        text = line[match.end() :] if match else line
        self.tags.update(dict.fromkeys(tags_in(text)))
        self.urls.update(dict.fromkeys(trim_url(found[0]) for found in _URL.finditer(text)))
        text = _LINK.sub(r"\1", _WIKILINK.sub(self._wikilink, text))
        return _EMPHASIS.sub("", text).strip()

    def _wikilink(self, match: re.Match[str]) -> str:
        link = wikilink(match[2], embed=bool(match[1]))
        self.links.append(link)
        return wikilink_text(link)
