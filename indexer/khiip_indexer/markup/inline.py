"""One stretch of parsed inline tokens as plain text with the links, highlights and notes in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from khiip_indexer.markup.html import HTML_BREAKS
from khiip_indexer.markup.marks import HIDDEN, LINKED
from khiip_indexer.markup.obsidian import (
    image_caption,
    markdown_link,
    wikilink,
    wikilink_text,
)
from khiip_indexer.types import Link


class Token(Protocol):
    """What is read of a parser's token."""

    @property
    def type(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def info(self) -> str: ...
    @property
    def markup(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def map(self) -> list[int] | None: ...
    @property
    def meta(self) -> dict[Any, Any]: ...
    @property
    def attrs(self) -> Mapping[str, str | int | float]: ...


@dataclass(frozen=True, slots=True)
class Inline:
    """Plain text and its mask (see `inline_marks`), with what was found in it, in order."""

    text: str
    mask: str
    links: Sequence[Link] = ()
    urls: Sequence[str] = ()
    highlights: Sequence[str] = ()
    notes: Sequence[str] = ()
    block_ids: Sequence[str] = ()


# Dataview's inline queries stand in code spans: `= this.x`, `$= dv.…`.
_QUERY = re.compile(r"\$=|=\s|=(?:this\b|\[\[)")
_TAG_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)")
_ADDRESS = re.compile(r"\b(?:href|src)\s*=\s*[\"']?([^\s\"'<>]+)", re.IGNORECASE)
_NOT_SPACE = re.compile(r"[^\n]")
_SPACED_BREAK = re.compile(r"[ \t]*\n[ \t]*")
# Next to CJK punctuation CommonMark leaves a pair of these in the text, where writers mean bold.
_BOLD = re.compile(r"\*\*([^\s*\x01](?:[^*\n]*[^\s*\x01])?)\*\*")
_CELLS = frozenset({"td", "th"})
_EMBEDS = frozenset({"img", "iframe", "video", "audio", "source", "embed"})


def plain_inline(text: str) -> Inline:
    """A text that has no markup, with the white space around its line breaks taken away."""
    text = text.strip()
    if "\n" in text:
        text = _SPACED_BREAK.sub("\n", text)
    return Inline(text, text)


def read_inline(tokens: Iterable[Token], defined_notes: Collection[str] = ()) -> Inline:
    """Read the children of one inline token; `defined_notes` are the footnotes that exist."""
    reader = _Reader(defined_notes)
    for token in tokens:
        reader.read(token)
    return reader.finish()


def _drop_bold(text: str, mask: str) -> tuple[str, str]:
    if "**" not in mask:
        return text, mask
    texts: list[str] = []
    masks: list[str] = []
    done = 0
    for match in _BOLD.finditer(mask):
        start, end = match.span()
        for pieces, source in ((texts, text), (masks, mask)):
            pieces += [source[done:start], source[start + 2 : end - 2]]
        done = end
    return "".join([*texts, text[done:]]), "".join([*masks, mask[done:]])


class _Reader:
    """Writes plain text and mask piece by piece, in one pass over a flat list of tokens."""

    def __init__(self, defined_notes: Collection[str]) -> None:
        self._defined = defined_notes
        self._text: list[str] = []
        self._mask: list[str] = []
        self._gap = False
        self._last = "\n"
        self._mark: int | None = None
        self._link: tuple[int, str] | None = None
        self.links: list[Link] = []
        self.urls: list[str] = []
        self.highlights: list[str] = []
        self.notes: list[str] = []
        self.block_ids: list[str] = []

    def read(self, token: Token) -> None:
        if handler := _HANDLERS.get(token.type):
            handler(self, token)

    def finish(self) -> Inline:
        self._close_link()
        text, mask = _drop_bold("".join(self._text), "".join(self._mask))
        end = len(text.rstrip())
        start = len(text) - len(text.lstrip())
        return Inline(
            text[start:end],
            mask[start:end],
            self.links,
            self.urls,
            self.highlights,
            self.notes,
            self.block_ids,
        )

    # --- writing

    def _write(self, text: str, hide: str = "") -> None:
        """Add text; after something was left out, keep one of the spaces on its two sides."""
        if self._gap and text:
            text = self._close_gap(text)
        if not text:
            return
        self._text.append(text)
        self._mask.append(_NOT_SPACE.sub(hide, text) if hide else text)
        self._last = text[-1]

    def _close_gap(self, text: str) -> str:
        self._gap = False
        if self._last in " \t\n":
            text = text.lstrip(" ")
        if text[:1] in (".", ",", ";", "!", "?", "\n"):
            self._trim_last()
        return text

    def _trim_last(self) -> None:
        if self._text and self._last == " ":
            self._text[-1] = self._text[-1].rstrip(" ")
            self._mask[-1] = self._mask[-1][: len(self._text[-1])]

    def _leave_out(self) -> None:
        self._gap = True

    def _break(self) -> None:
        if self._last != "\n":
            self._write("\n")

    # --- tokens

    def _on_text(self, token: Token) -> None:
        self._write(token.content)

    def _on_special(self, token: Token) -> None:
        self._write(token.content, HIDDEN)

    def _on_newline(self, token: Token) -> None:
        self._write("\n")

    def _on_code(self, token: Token) -> None:
        if _QUERY.match(token.content):
            self._leave_out()
        else:
            self._write(token.content, HIDDEN)

    def _on_maths(self, token: Token) -> None:
        self._write(token.content, HIDDEN)

    def _on_wikilink(self, token: Token) -> None:
        link = wikilink(token.content, embed=token.type == "embed")
        if link.target:
            self.links.append(link)
        if shown := wikilink_text(link):
            self._write(shown, LINKED)
        else:
            self._leave_out()

    def _on_url(self, token: Token) -> None:
        self._write(token.content, HIDDEN)
        if self._link is None:
            self._external(token.content)
            self.links.append(Link(token.content, external=True))

    def _on_mark(self, token: Token) -> None:
        if self._mark is not None and token.meta["closes"]:
            opening = self._mark
            inside = "".join(self._text[opening + 1 :]).strip()
            self._text[opening] = self._mask[opening] = ""
            self._mark = None
            if inside:
                self.highlights.append(inside)
            return
        if self._mark is None and token.meta["opens"]:
            self._mark = len(self._text)
        self._write("==")

    def _on_note_ref(self, token: Token) -> None:
        if token.content in self._defined or token.content.isdigit():
            self._leave_out()
        else:
            self._write(f"[^{token.content}]")

    def _on_note(self, token: Token) -> None:
        self.notes.append(token.content)
        self._leave_out()

    def _on_block_id(self, token: Token) -> None:
        self.block_ids.append(token.content)
        self._leave_out()

    def _on_image(self, token: Token) -> None:
        self._leave_out()
        href = str(token.attrs.get("src", ""))
        if link := markdown_link(href, image_caption(token.content), embed=True):
            self.links.append(link)

    def _on_link_open(self, token: Token) -> None:
        self._open_link(str(token.attrs.get("href", "")))

    def _on_link_close(self, token: Token) -> None:
        self._close_link()

    def _on_tag(self, token: Token) -> None:
        match = _TAG_NAME.match(token.content)
        if not match:
            return
        closing, name = bool(match[1]), match[2].lower()
        if name in HTML_BREAKS:
            self._break()
        elif name in _CELLS and closing:
            self._write(" | ")
        elif name == "a" and closing:
            self._close_link()
        elif address := _ADDRESS.search(token.content):
            self._on_address(name, address[1])

    def _on_address(self, name: str, address: str) -> None:
        if name == "a":
            self._open_link(address)
        elif name in _EMBEDS and (link := markdown_link(address, None, embed=True)):
            self.links.append(link)

    # --- links

    def _open_link(self, href: str) -> None:
        self._close_link()
        self._link = (len(self._text), href)

    def _close_link(self) -> None:
        if self._link is None:
            return
        first, href = self._link
        self._link = None
        display = "".join(self._text[first:]).strip()
        for at in range(first, len(self._mask)):
            self._mask[at] = _NOT_SPACE.sub(LINKED, self._mask[at])
        shown = None if display == href else display or None
        if link := markdown_link(href, shown, embed=False):
            self.links.append(link)
            self._external(link.target)

    def _external(self, url: str) -> None:
        if url.lower().startswith(("http://", "https://")):
            self.urls.append(url)


_HANDLERS: dict[str, Callable[[_Reader, Token], None]] = {
    "text": _Reader._on_text,
    "text_special": _Reader._on_special,
    "softbreak": _Reader._on_newline,
    "hardbreak": _Reader._on_newline,
    "code_inline": _Reader._on_code,
    "maths": _Reader._on_maths,
    "wikilink": _Reader._on_wikilink,
    "embed": _Reader._on_wikilink,
    "url": _Reader._on_url,
    "mark": _Reader._on_mark,
    "note_ref": _Reader._on_note_ref,
    "note": _Reader._on_note,
    "block_id": _Reader._on_block_id,
    "image": _Reader._on_image,
    "link_open": _Reader._on_link_open,
    "link_close": _Reader._on_link_close,
    "tag": _Reader._on_tag,
}
