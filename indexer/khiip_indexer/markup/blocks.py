"""A flat list of block tokens as a Body: plain text, structure, lines of the file; no recursion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from khiip_indexer.markup.html import drop_unseen
from khiip_indexer.markup.inline import Inline, Token
from khiip_indexer.markup.marks import read_fields, tags_in, task_due, task_priority, task_words
from khiip_indexer.types import Block, BlockKind, Body, Callout, Heading, Link, Task

# Fences that hold a query or a machine's data: nothing that a person reads.
SKIPPED_FENCES = frozenset(
    {
        "dataview", "dataviewjs", "datacore", "datacorejs", "datacorejsx", "datacorets",
        "datacoretsx", "tasks", "base", "query", "compressed-json", "annotation-json",
        "yaml:dbfolder",
    }
)  # fmt: skip

_CALLOUT = re.compile(r"\[!([^\]|\n]{1,200})(?:\|([^\]\n]{0,500}))?\]([+-]?)[ \t]*([^\n]*)")
_CHECKBOX = re.compile(r"\[([^\n])\](?:[ \t\n]+|$)")
_BLANKS = re.compile(r"[ \t]*\n\s*")

RenderInline = Callable[[str], Inline]


def join_blocks(blocks: Iterable[Block]) -> str:
    """Blocks as one text: a blank line between them, a line break between items of a list."""
    parts: list[str] = []
    previous = ""
    for block in blocks:
        if not block.text:
            continue
        if parts:
            parts.append("\n" if block.kind == previous == "item" else "\n\n")
        parts.append(block.text)
        previous = block.kind
    return "".join(parts)


@dataclass(slots=True)
class _OpenCallout:
    kind: str
    meta: str | None
    fold: str | None
    title: str
    line: int
    depth: int
    first_block: int
    place: int


@dataclass(slots=True)
class _Footnote:
    label: str
    content: str
    line: int


@dataclass(slots=True)
class _Found:
    """What is collected on the way, in the order of the note."""

    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: dict[str, str] = field(default_factory=dict)
    tasks: list[Task] = field(default_factory=list)
    fields: dict[str, list[str]] = field(default_factory=dict)
    highlights: list[str] = field(default_factory=list)
    footnotes: dict[str, str] = field(default_factory=dict)
    callouts: list[Callout | None] = field(default_factory=list)
    block_ids: list[str] = field(default_factory=list)
    urls: dict[str, None] = field(default_factory=dict)


class BodyBuilder:
    """Turns block tokens into a Body; `render` reads the content of inline tokens."""

    def __init__(self, render: RenderInline, first_line: int) -> None:
        self._render = render
        self._first_line = first_line
        self._found = _Found()
        self._notes: list[_Footnote] = []
        self._inline_notes = 0
        self._lists = 0
        self._quotes = 0
        self._number: str | None = None  # of a list item whose text has not come yet
        self._new_quote = False
        self._heading = 0
        self._row: list[str] | None = None
        self._rows: list[str] = []
        self._table_line = 0
        self._callouts: list[_OpenCallout] = []

    def build(self, tokens: Sequence[Token], references: Iterable[str] = ()) -> Body:
        """Read all tokens; `references` are the addresses of link definitions."""
        for token in tokens:
            if handler := _HANDLERS.get(token.type):
                handler(self, token)
        self._write_footnotes()
        found = self._found
        for address in references:
            if address.lower().startswith(("http://", "https://")):
                found.urls.setdefault(address)
        return Body(
            text=join_blocks(found.blocks),
            blocks=tuple(found.blocks),
            headings=tuple(found.headings),
            links=tuple(found.links),
            tags=tuple(found.tags.values()),
            tasks=tuple(found.tasks),
            fields=found.fields,
            highlights=tuple(found.highlights),
            footnotes=found.footnotes,
            callouts=tuple(callout for callout in found.callouts if callout),
            block_ids=tuple(found.block_ids),
            urls=tuple(found.urls),
        )

    # --- text

    def _on_inline(self, token: Token) -> None:
        line = self._line(token)
        if self._row is not None:
            self._row.append(self._read(token.content, line).text.replace("\n", " "))
        elif self._heading:
            text = self._read(token.content, line, fields=False).text.replace("\n", " ")
            self._found.headings.append(Heading(self._heading, text, line))
            self._add("heading", text, line, self._heading)
        else:
            self._paragraph(token.content, line)

    def _paragraph(self, content: str, line: int) -> None:
        is_new_quote, self._new_quote = self._new_quote, False
        if is_new_quote and (match := _CALLOUT.match(content)):
            self._open_callout(match, line)
            content, line = content[match.end() :].lstrip("\n"), line + 1
            if not content:
                return
        number, self._number = self._number, None
        if number is not None:
            self._item(content, line, number)
            return
        kind: BlockKind = "quote" if self._quotes else "paragraph"
        self._add(kind, self._read(content, line).text, line, self._quotes or self._lists)

    def _item(self, content: str, line: int, number: str) -> None:
        box = _CHECKBOX.match(content)
        if box is None:
            text = self._read(content, line).text
        else:
            text = self._task(content[box.end() :], line, box[1])
        self._add("item", f"{number} {text}" if number and text else text, line, self._lists)

    def _task(self, content: str, line: int, status: str) -> str:
        inline = self._render(content)
        raw = inline.text
        words = task_words(raw, inline.mask)
        self._found.tasks.append(
            Task(
                done=status in "xX",
                text=" ".join(words.split()),
                line=line,
                status=status,
                due=task_due(raw),
                priority=task_priority(raw),
            )
        )
        self._collect(inline, line)
        return words

    def _read(self, content: str, line: int, *, fields: bool = True) -> Inline:
        return self._collect(self._render(content), line, fields=fields)

    def _collect(self, inline: Inline, line: int, *, fields: bool = True) -> Inline:
        """Note what an inline text holds; return it with its fields shown as text."""
        found = self._found
        found.links.extend(inline.links)
        found.urls.update(dict.fromkeys(inline.urls))
        found.highlights.extend(inline.highlights)
        found.block_ids.extend(inline.block_ids)
        for tag in tags_in(inline.mask):
            found.tags.setdefault(tag.casefold(), tag)
        for note in inline.notes:
            self._inline_notes += 1
            self._notes.append(_Footnote(f"^{self._inline_notes}", note, line))
        if not fields or "::" not in inline.mask:
            return inline
        read = read_fields(inline.text, inline.mask)
        for key, value in read.pairs:
            found.fields.setdefault(key, []).append(value)
        return Inline(read.text.strip(), "")

    def _add(self, kind: BlockKind, text: str, line: int, level: int = 0, info: str = "") -> None:
        self._new_quote = False
        if text or kind == "rule":
            self._found.blocks.append(Block(kind, text, line, level, info))

    def _line(self, token: Token) -> int:
        return (token.map[0] if token.map else 0) + self._first_line

    # --- code, maths, HTML, rules

    def _on_fence(self, token: Token) -> None:
        info = token.info.strip()
        language = info.split(maxsplit=1)[0].strip("{}").lower() if info else ""
        if language in SKIPPED_FENCES:
            self._new_quote = False
            return
        self._code(token, self._line(token) + 1, info)

    def _on_code_block(self, token: Token) -> None:
        self._code(token, self._line(token), "")

    def _code(self, token: Token, line: int, info: str) -> None:
        self._add("code", token.content.strip("\n").rstrip(), line, self._quotes, info)

    def _on_maths(self, token: Token) -> None:
        kind: BlockKind = "quote" if self._quotes else "paragraph"
        self._add(kind, token.content, self._line(token), self._quotes)

    def _on_html(self, token: Token) -> None:
        line = self._line(token)
        content = drop_unseen(token.content)
        text = self._read(_BLANKS.sub("\n", content).strip(), line, fields=False).text
        kind: BlockKind = "quote" if self._quotes else "paragraph"
        self._add(kind, _BLANKS.sub("\n", text), line, self._quotes)

    def _on_rule(self, token: Token) -> None:
        self._add("rule", "", self._line(token), self._quotes)

    # --- headings, lists, quotations, tables

    def _on_heading_open(self, token: Token) -> None:
        self._heading = (
            len(token.markup) if token.markup[0] == "#" else "=-".index(token.markup) + 1
        )

    def _on_heading_close(self, token: Token) -> None:
        self._heading = 0

    def _on_list_open(self, token: Token) -> None:
        self._lists += 1

    def _on_list_close(self, token: Token) -> None:
        self._lists -= 1

    def _on_item_open(self, token: Token) -> None:
        self._number = token.info + token.markup if token.info else ""
        self._new_quote = False

    def _on_item_close(self, token: Token) -> None:
        self._number = None

    def _on_quote_open(self, token: Token) -> None:
        self._quotes += 1
        self._new_quote = True
        self._number = None

    def _on_quote_close(self, token: Token) -> None:
        if self._callouts and self._callouts[-1].depth == self._quotes:
            self._close_callout(self._callouts.pop())
        self._quotes -= 1

    def _on_row_open(self, token: Token) -> None:
        self._row = []

    def _on_row_close(self, token: Token) -> None:
        if self._row and any(self._row):
            self._rows.append(" | ".join(self._row))
        self._row = None

    def _on_table_close(self, token: Token) -> None:
        rows, self._rows = self._rows, []
        self._add("table", "\n".join(rows), self._table_line, self._quotes)

    def _on_table_open(self, token: Token) -> None:
        self._table_line = self._line(token)

    # --- callouts and footnotes

    def _open_callout(self, match: re.Match[str], line: int) -> None:
        title = self._read(match[4], line, fields=False).text
        self._add("callout", title, line, self._quotes)
        self._callouts.append(
            _OpenCallout(
                kind=match[1].strip().lower(),
                meta=match[2],
                fold=match[3] or None,
                title=title,
                line=line,
                depth=self._quotes,
                first_block=len(self._found.blocks),
                place=len(self._found.callouts),
            )
        )
        self._found.callouts.append(None)  # its place; the text is known at its end

    def _close_callout(self, opened: _OpenCallout) -> None:
        text = join_blocks(self._found.blocks[opened.first_block :])
        self._found.callouts[opened.place] = Callout(
            opened.kind, opened.meta, opened.fold, opened.title, text, opened.line
        )

    def _on_note_definition(self, token: Token) -> None:
        self._notes.append(_Footnote(token.info, token.content, self._line(token)))

    def _write_footnotes(self) -> None:
        """Footnotes are text at the end; one inside another is read once, as text."""
        for note in self._notes[:]:
            text = self._read(note.content, note.line, fields=False).text
            self._found.footnotes.setdefault(note.label, text)
            self._add("paragraph", text, note.line)


_HANDLERS: dict[str, Callable[[BodyBuilder, Token], None]] = {
    "inline": BodyBuilder._on_inline,
    "fence": BodyBuilder._on_fence,
    "code_block": BodyBuilder._on_code_block,
    "maths_block": BodyBuilder._on_maths,
    "html_block": BodyBuilder._on_html,
    "hr": BodyBuilder._on_rule,
    "heading_open": BodyBuilder._on_heading_open,
    "heading_close": BodyBuilder._on_heading_close,
    "bullet_list_open": BodyBuilder._on_list_open,
    "ordered_list_open": BodyBuilder._on_list_open,
    "bullet_list_close": BodyBuilder._on_list_close,
    "ordered_list_close": BodyBuilder._on_list_close,
    "list_item_open": BodyBuilder._on_item_open,
    "list_item_close": BodyBuilder._on_item_close,
    "blockquote_open": BodyBuilder._on_quote_open,
    "blockquote_close": BodyBuilder._on_quote_close,
    "tr_open": BodyBuilder._on_row_open,
    "tr_close": BodyBuilder._on_row_close,
    "table_open": BodyBuilder._on_table_open,
    "table_close": BodyBuilder._on_table_close,
    "note_definition": BodyBuilder._on_note_definition,
}
