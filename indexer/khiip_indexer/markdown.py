"""A note's Markdown as plain text and structure; pure."""

from __future__ import annotations

import re

from khiip_indexer.markup.blocks import BodyBuilder
from khiip_indexer.markup.inline import Inline, plain_inline, read_inline
from khiip_indexer.markup.lines import read_lines
from khiip_indexer.markup.source import clean_source
from khiip_indexer.types import Body

# A text without any of these has no inline markup.
_INLINE_MARKUP = re.compile(r"[\\`*_~\[<&$^]|==|://")
_ANY_MARKUP = re.compile(r"[\\`*_~\[<>&$^#|]|==|%%|::|data:|^\s*(?:[-+]|\d+[.)])\s", re.MULTILINE)
_LINE_MARKUP = re.compile(r"[\\`*_~\[<&$^]|==|%%|data:")

# What a parser of other people's text may raise on input that nobody foresaw.
_PARSER_FAULTS = (
    RecursionError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
)


def parse_markdown(text: str, first_line: int = 1) -> Body:
    """Read a Markdown body as a person would see it; `first_line` is its first line in the file.

    Never raises: when the parser fails or the nesting is absurd, simple line rules read the text
    and `fallback` is set.
    """
    source = clean_source(text)
    try:
        return _parse(source, first_line)
    except _PARSER_FAULTS:
        return read_lines(source, first_line)


def to_plain(text: str) -> str:
    """Return a short text (a title, a description, a comment) without its markup.

    One line is read as running text, so that "1. May" or "# 7" stay; several lines are read as a
    note. A text without markup comes back as it is.
    """
    if "\n" in text.strip():
        return parse_markdown(text).text if _ANY_MARKUP.search(text) else text
    if not _LINE_MARKUP.search(text):
        return text
    source = clean_source(text)
    try:
        return _render(source, {}).text
    except _PARSER_FAULTS:
        return read_lines(source, 1).text


def _parse(source: str, first_line: int) -> Body:
    from khiip_indexer.markup.parser import parse_blocks

    document = parse_blocks(source)
    notes = document.note_labels
    builder = BodyBuilder(lambda content: _render(content, document.env, notes), first_line)
    return builder.build(document.tokens, document.references)


def _render(content: str, env: dict[str, object], notes: frozenset[str] = frozenset()) -> Inline:
    if not _INLINE_MARKUP.search(content):
        return plain_inline(content)
    from khiip_indexer.markup.parser import parse_inline

    return read_inline(parse_inline(content, env), notes)
