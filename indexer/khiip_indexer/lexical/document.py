"""All of a capture that a person would search for, folded; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from khiip_indexer.lexical.fold import fold
from khiip_indexer.lexical.scripts import bigrams, cut, has_unspaced, word_pattern
from khiip_indexer.types import Capture, Segment

_HELD = 200
# A line that is broken inside a sentence without spaces has no space there.
_BROKEN_LINE = re.compile(
    "(?<=[\u3005-\u30ff\u3400-\u9fff\uff00-\uffef])\n(?=[\u3005-\u30ff\u3400-\u9fff])"
)


@dataclass(frozen=True, slots=True)
class Texts:
    """A capture's text by where it stands, folded; a line for each thing, blanks made one.

    `title` holds the aliases and the file's name too, `tags` the entities. Title, headings, tags
    and author name their pairs of unspaced script on lines of their own. `cut` is the body with
    all of its unspaced script in pairs, None where it has none.
    """

    title: str
    headings: str
    tags: str
    author: str
    body: str
    cut: str | None


def document(capture: Capture, segments: Iterable[Segment]) -> Texts:
    """The texts of a capture; `segments` is all of its payload's running text."""
    parts = list(segments)
    stem = capture.path.rpartition("/")[2].removesuffix(".md")
    body = _body(capture, parts)
    return Texts(
        title=_named([capture.title, *capture.aliases, stem]),
        headings=_named(heading for part in parts for heading in part.headings),
        tags=_named([*capture.user_tags, *capture.entities]),
        author=_named([capture.author or ""]),
        body=body,
        cut=cut(body) if has_unspaced(body) else None,
    )


def _body(capture: Capture, parts: Sequence[Segment]) -> str:
    lines = [_line(part.text) for part in parts]
    description = _line(capture.description or "")
    if description and not any(description[:_HELD] in line for line in lines):
        lines.insert(0, description)
    if capture.url.startswith(("http://", "https://")):
        lines.append(_line(capture.url))
    return "\n".join(line for line in lines if line)


def _line(text: str) -> str:
    return " ".join(fold(_BROKEN_LINE.sub("", text)).split())


def _named(names: Iterable[str]) -> str:
    lines = [line for line in dict.fromkeys(_line(name) for name in names) if line]
    pairs = " ".join(_pairs(line) for line in lines if has_unspaced(line))
    return "\n".join([*lines, pairs]) if pairs else "\n".join(lines)


def _pairs(line: str) -> str:
    runs = (piece[0] for piece in word_pattern().finditer(line) if piece["run"] is not None)
    return " ".join(pair for run in runs for pair in bigrams(run))
