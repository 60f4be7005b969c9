"""What a person should know of frontmatter that parsed, but does not say what they meant; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from khiip_indexer.types import Problem, Value

# Templater's and Obsidian's own placeholders, and those of every tool that copied them.
PLACEHOLDER = re.compile(r"\{\{[^{}\n]{1,200}\}\}|<%")
_KEY = re.compile(r"(?P<key>[^\s#:-][^:\n]{0,99}):(?P<rest>.*)")
_HASH_VALUE = re.compile(r"[ \t]+#[^\s#]")
_HASH_ITEM = re.compile(r"[ \t]*-[ \t]+#[^\s#]")
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_SECOND_BLOCK_LIMIT = 20_000


def content_problems(
    raw: str, metadata: dict[str, Value], path: str, first_line: int
) -> Iterator[Problem]:
    """Problems of a readable block; `first_line` is the file's line on which `raw` starts."""
    if "{{" in raw or "<%" in raw:
        yield from _template(raw, path, first_line)
    if "#" in raw:
        yield from _eaten_by_hash(raw, metadata, path, first_line)


def _template(raw: str, path: str, first_line: int) -> Iterator[Problem]:
    match = PLACEHOLDER.search(raw)
    if match:
        yield Problem(
            path,
            "template",
            "a template: its placeholders are kept as text",
            first_line + raw.count("\n", 0, match.start()),
            "List the templates folder in .khiipignore to leave such notes out.",
        )


def _eaten_by_hash(
    raw: str, metadata: dict[str, Value], path: str, first_line: int
) -> Iterator[Problem]:
    """YAML reads ` #word` as a comment, so the value that was meant is gone: say it once."""
    key = ""
    for number, line in enumerate(raw.split("\n")):
        match = _KEY.match(line)
        if match:
            key = match["key"].strip()
        eaten = _HASH_VALUE.match(match["rest"]) if match else _HASH_ITEM.match(line)
        if eaten and _lacks_value(metadata.get(key)):
            yield Problem(
                path,
                "frontmatter_hash",
                f"{key} value starts with '#': quote it",
                first_line + number,
                "Leave the '#' out, or put the value in quotes.",
            )
            return


def _lacks_value(value: Value) -> bool:
    return value is None or (isinstance(value, list) and None in value)


def second_block(
    body: str, path: str, body_line: int, is_mapping: Callable[[str], bool]
) -> Iterator[Problem]:
    """Name a second frontmatter block right behind the first; it stays part of the body."""
    opening, closing = _first_fences(body)
    if opening is None or closing is None or body[: opening.start()].strip():
        return
    block = body[opening.end() : closing.start()]
    if is_mapping(block):
        yield Problem(
            path,
            "frontmatter_second_block",
            "a second frontmatter block follows the first; it is read as text",
            body_line + body.count("\n", 0, opening.start()),
            "Merge the two blocks.",
        )


def _first_fences(body: str) -> tuple[re.Match[str] | None, re.Match[str] | None]:
    fences = _FENCE.finditer(body[:_SECOND_BLOCK_LIMIT])
    return next(fences, None), next(fences, None)
