"""The one user of markdown-it-py: CommonMark with tables, strikethrough and Obsidian's syntax."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token as ParserToken

from khiip_indexer.markup.inline import Token
from khiip_indexer.markup.obsidian import scan

MAX_NESTING = 100
# Brackets within brackets: more costs time for each "[" and shows nothing more.
INLINE_NESTING = 20
# Rules of inline syntax look ahead; in pieces of this many characters they stay linear, and a
# paragraph of that size is data rather than prose.
INLINE_REACH = 16_000

_MATHS_LINES = 200
_NOTE_DEFINITION = re.compile(r"\[\^([^\]\s\[^]{1,100})\]:[ \t]*")
_REFERENCE = re.compile(
    r"\[([^\[\]\n]{1,200})\]:[ \t]*(?:<([^<>\n]*)>|([^\s<]\S*))"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$"
)
_ADDRESS = re.compile(r"[/.#:]")
_BREAKS = re.compile(r"\n|(?<=[.!?。！？])\s|\s")


class TooDeepError(ValueError):
    """The nesting passes what the parser follows; it would leave text out without a word."""


@dataclass(frozen=True, slots=True)
class Document:
    """Block tokens in order, with the labels of footnotes and the link definitions in them."""

    tokens: Sequence[Token]
    env: dict[str, Any] = field(default_factory=dict)

    @property
    def note_labels(self) -> frozenset[str]:
        return frozenset(token.info for token in self.tokens if token.type == "note_definition")

    @property
    def references(self) -> list[str]:
        """Destinations of link definitions, in order."""
        return [str(entry["href"]) for entry in self.env.get("references", {}).values()]


def parse_blocks(source: str) -> Document:
    """Parse a cleaned source into block tokens; the content of inline tokens is left as it is.

    Raises TooDeepError when lists or quotations are nested deeper than the parser follows.
    """
    parser = _parser(MAX_NESTING)
    tokens: list[ParserToken] = []
    env: dict[str, Any] = {}
    parser.block.parse(source, parser, env, tokens)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        raise TooDeepError("lists or quotations are nested too deep")
    return Document(tokens, env)


def parse_inline(content: str, env: dict[str, Any]) -> Sequence[Token]:
    """Parse the content of one inline token into a flat list of tokens."""
    parser = _parser(INLINE_NESTING)
    tokens: list[ParserToken] = []
    for piece in _pieces(content):
        parser.inline.parse(piece, parser, env, tokens)
    return tokens


def _pieces(content: str) -> list[str]:
    if len(content) <= INLINE_REACH:
        return [content]
    pieces = []
    start = 0
    while len(content) - start > INLINE_REACH:
        cuts = _BREAKS.finditer(content, start + INLINE_REACH - 500, start + INLINE_REACH)
        ends = [match.end() for match in cuts] or [start + INLINE_REACH]
        pieces.append(content[start : ends[-1]])
        start = ends[-1]
    pieces.append(content[start:])
    return pieces


class _Parser(MarkdownIt):
    """Links stay as written: every scheme is a link and no address is encoded again."""

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the parser's own name
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link


@cache
def _parser(nesting: int) -> MarkdownIt:
    parser = _Parser("commonmark", {"maxNesting": nesting})
    parser.enable(["table", "strikethrough"])
    parser.disable(["reference", "html_inline"])
    alternatives: RuleOptionsType = {"alt": ["paragraph", "blockquote", "list"]}
    parser.block.ruler.before("fence", "maths_block", _maths_block, alternatives)
    parser.block.ruler.before("table", "note_definition", _note_definition, alternatives)
    parser.block.ruler.before("table", "link_definition", _link_definition)
    parser.inline.ruler.after("text", "obsidian", _obsidian)
    # Plain text is skipped up to one of these; fewer stops, fewer calls.
    parser.inline.terminator_re = re.compile(r"[\n!$&*:<=\[\]\\^_`~]")
    return parser


def _obsidian(state: StateInline, silent: bool) -> bool:
    found = scan(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        if found.back:
            # The scheme of a URL has been taken for text already.
            state.pending = state.pending[: -found.back]
        if found.kind == "text":
            state.append_pending(found.content)
        else:
            token = state.push(found.kind, "", 0)
            token.content = found.content
            token.meta = {"opens": found.opens, "closes": found.closes}
    state.pos = found.end
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _starts(state: StateBlock, line: int, prefix: str) -> bool:
    at = state.bMarks[line] + state.tShift[line]
    return state.src.startswith(prefix, at) and not state.is_code_block(line)


def _push(state: StateBlock, kind: str, first: int, last: int, content: str) -> ParserToken:
    token = state.push(kind, "", 0)
    token.map = [first, last]
    token.content = content
    state.line = last
    return token


def _maths_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`$$` … `$$` over several lines: `=`, `-` and `#` in it are no Markdown."""
    if not _starts(state, start, "$$"):
        return False
    first = _line(state, start).rstrip()
    last = start
    if len(first) < 4 or not first.endswith("$$"):
        last = _closing_maths(state, start, end)
    if last < 0:
        return False
    if not silent:
        lines = "\n".join(_line(state, line) for line in range(start, last + 1))
        _push(state, "maths_block", start, last + 1, lines.rstrip())
    return True


def _closing_maths(state: StateBlock, start: int, end: int) -> int:
    for line in range(start + 1, min(end, start + _MATHS_LINES)):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return -1
        if _line(state, line).rstrip().endswith("$$"):
            return line
    return -1


def _note_definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[^label]: text` with the indented lines below it."""
    match = _NOTE_DEFINITION.match(_line(state, start)) if _starts(state, start, "[^") else None
    if match is None:
        return False
    if silent:
        return True
    last = _end_of_note(state, start + 1, end)
    first = _line(state, start)[match.end() :]
    rest = (_line(state, line) for line in range(start + 1, last))
    token = _push(state, "note_definition", start, last, "\n".join([first, *rest]).strip())
    token.info = match[1]
    return True


def _end_of_note(state: StateBlock, line: int, end: int) -> int:
    last = line
    while line < end:
        if not state.isEmpty(line):
            if state.sCount[line] < state.blkIndent + 2:
                break
            last = line + 1
        line += 1
    return last


def _link_definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """`[label]: address "title"` on one line; "[Ann]: yes" is speech and stays text."""
    match = _REFERENCE.match(_line(state, start)) if _starts(state, start, "[") else None
    if match is None:
        return False
    address = match[2] if match[2] is not None else match[3]
    if match[2] is None and not _ADDRESS.search(address):
        return False
    if not silent:
        references: dict[str, Any] = state.env.setdefault("references", {})
        entry = {"title": "", "href": address, "map": [start, start + 1]}
        references.setdefault(normalizeReference(match[1]), entry)
        state.line = start + 1
    return True
