"""Bytes of a note -> metadata, body, problems: the one place that decides what frontmatter is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from khiip_indexer.fields.checks import PLACEHOLDER, content_problems, second_block
from khiip_indexer.fields.note_text import decode_note
from khiip_indexer.fields.recovery import Broken, Sheet, cut_entries, recover
from khiip_indexer.fields.yaml_text import Loaded, YamlError, load_yaml
from khiip_indexer.types import Frontmatter, FrontmatterState, Problem, Value

_OPENING = re.compile(r"(?:[ \t]*\n)*---[ \t]*(?:\n|\Z)")
_FENCE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_KEY_LINE = re.compile(r"[\w][\w -]{0,60}:(?:[ \t]|$)", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
# Metadata, not a book between two rules; beyond this a block is prose.
MAX_BLOCK = 1_000_000
# A `---` inside a quoted value is no fence: look this many fences ahead for the real one.
_MAX_FENCES = 8
_MAX_QUOTED = 100_000


@dataclass(frozen=True, slots=True)
class _Block:
    """A fenced text: offsets in the note of its start, its end and the body behind the fence."""

    start: int
    end: int
    body_start: int
    text: str


@dataclass(slots=True)
class _Reading:
    """What a block says. `metadata` is None when it is not metadata; `reason` then says why."""

    block: _Block
    metadata: dict[str, Value] | None = None
    reason: str = ""
    line: int = 0
    broken: list[Broken] = field(default_factory=list)
    repeated: list[tuple[str, int]] = field(default_factory=list)


def read_frontmatter(raw: bytes, path: str) -> Frontmatter:
    """Split a note into metadata and body; whatever the bytes are, nothing of them is lost.

    Never raises. `state` is `absent` without an opening and a closing fence, `malformed` when
    what stands between them is no mapping even line by line: the body is then the whole text.
    """
    text, problems = decode_note(raw, path)
    opening = _OPENING.match(text)
    if opening is None:
        return Frontmatter({}, text, 1, "absent", problems=tuple(problems))
    reading = _read(text, opening.end())
    first_line = text.count("\n", 0, opening.end()) + 1
    if reading is None:
        problems.extend(_unclosed(text, opening.end(), path, first_line))
        return _whole(text, "absent", problems)
    if reading.metadata is None:
        problems.append(_malformed(reading, path, first_line))
        return _whole(text, "malformed", problems)
    return _present(text, reading, path, first_line, problems)


def _whole(text: str, state: FrontmatterState, problems: list[Problem]) -> Frontmatter:
    return Frontmatter({}, text, 1, state, problems=tuple(problems))


def _present(
    text: str, reading: _Reading, path: str, first_line: int, problems: list[Problem]
) -> Frontmatter:
    metadata, block = reading.metadata or {}, reading.block
    body = text[block.body_start :]
    body_line = text.count("\n", 0, block.body_start) + 1
    raw = text[block.start : block.end]
    problems.extend(content_problems(raw, metadata, path, first_line))
    problems.extend(_literal_values(reading, path, first_line))
    problems.extend(_repeated(reading, path, first_line))
    if body.lstrip(" \t\n").startswith("---"):
        problems.extend(second_block(body, path, body_line, _is_mapping))
    return Frontmatter(metadata, body, body_line, "present", raw, tuple(problems))


def _read(text: str, start: int) -> _Reading | None:
    """Find the closing fence and read what is before it; None when nothing closes the block."""
    first: tuple[_Reading, Sheet] | None = None
    for block, is_dashes in _blocks(text, start):
        reading = _strict(block)
        if reading.metadata is not None and (is_dashes or reading.metadata):
            return reading
        if not is_dashes:
            continue
        sheet = cut_entries(block.text) if len(block.text) <= MAX_BLOCK else Sheet()
        if first is not None and sheet.plausible and not sheet.open_quote and not sheet.strays:
            return _by_line(reading, sheet)
        first = first or (reading, sheet)
        if not first[1].open_quote:
            break
    return _by_line(*first) if first else None


def _blocks(text: str, start: int) -> Iterator[tuple[_Block, bool]]:
    """Every text from the opening fence to a later one, and whether that one is `---`."""
    for count, fence in enumerate(_FENCE.finditer(text, start)):
        if count >= _MAX_FENCES:
            return
        end = max(start, fence.start() - 1)
        if count and end - start > _MAX_QUOTED:
            return
        block = text[start:end]
        if count:
            # The parser ends a document at a fence even inside quotes; indented, it is text
            # and folds to the same value.
            block = _FENCE.sub(r" \g<0>", block)
        body_start = min(fence.end() + 1, len(text))
        yield _Block(start, end, body_start, block), text[fence.start()] == "-"


def _strict(block: _Block) -> _Reading:
    """Read a block as YAML, all or nothing."""
    if len(block.text) > MAX_BLOCK:
        return _Reading(block, reason=f"longer than {MAX_BLOCK:,} characters")
    try:
        loaded = _load(block.text + "\n")
    except YamlError as error:
        line = block.text.count("\n", 0, error.index)
        return _Reading(block, reason=error.reason, line=line)
    if loaded.value is None:
        return _Reading(block, {})
    if isinstance(loaded.value, dict):
        lines = [(key, block.text.count("\n", 0, at)) for key, at in loaded.repeated[:1]]
        return _Reading(block, loaded.value, repeated=lines)
    kind = "a list" if isinstance(loaded.value, list) else "plain text"
    return _Reading(block, reason=f"{kind}, where `key: value` lines were expected")


def _load(text: str) -> Loaded:
    """Parse; control characters, which YAML forbids anywhere, count as spaces."""
    try:
        return load_yaml(text)
    except YamlError:
        cleaned = _CONTROL.sub(" ", text)
        if cleaned == text:
            raise
    return load_yaml(cleaned)


def _by_line(reading: _Reading, sheet: Sheet) -> _Reading:
    """Recover what can be recovered of a block that is not valid YAML."""
    if not sheet.plausible:
        return reading
    recovered = recover(sheet)
    reading.metadata = recovered.metadata
    reading.broken = recovered.broken or [Broken(reading.line, reading.reason, "")]
    reading.repeated = recovered.repeated
    return reading


def _is_mapping(block: str) -> bool:
    try:
        return isinstance(load_yaml(block).value, dict)
    except YamlError:
        return False


def _literal_values(reading: _Reading, path: str, first_line: int) -> Iterator[Problem]:
    # A template's placeholders break YAML too; that is one cause, and it is reported as such.
    broken = [b for b in reading.broken if not PLACEHOLDER.search(b.text)]
    if not broken:
        return
    more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
    yield Problem(
        path,
        "frontmatter_invalid",
        f"{broken[0].reason}; the value was read as plain text{more}",
        first_line + broken[0].line,
        "Put the value in quotes.",
    )


def _repeated(reading: _Reading, path: str, first_line: int) -> Iterator[Problem]:
    if not reading.repeated:
        return
    key, line = reading.repeated[0]
    yield Problem(
        path,
        "frontmatter_repeated_key",
        f"the key '{key}' is written more than once; its first value counts",
        first_line + line,
        "Keep one of them.",
    )


def _malformed(reading: _Reading, path: str, first_line: int) -> Problem:
    return Problem(
        path,
        "frontmatter_malformed",
        f"the text between the `---` lines is not metadata: {reading.reason}",
        first_line + reading.line,
        "Write `key: value` lines, or put an empty line above a `---` that is meant as a rule.",
    )


def _unclosed(text: str, start: int, path: str, first_line: int) -> Iterator[Problem]:
    """A note may open with a rule; only keys behind it show that a closing fence is missing."""
    if _KEY_LINE.match(text, start):
        yield Problem(
            path,
            "frontmatter_unclosed",
            "the frontmatter has no closing `---` line; all of it is read as text",
            first_line - 1,
            "Add a line `---` behind the last key.",
        )
