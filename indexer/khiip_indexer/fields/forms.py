"""Notes that name much and say little: templates, and bare lists of links to other notes; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from khiip_indexer.fields.checks import PLACEHOLDER
from khiip_indexer.types import Form, Problem

_FEW = 3
_SHARE = 0.8
_LINK = re.compile(r"\[\[[^\[\]\n]{1,500}\]\]|\[[^\[\]\n]{1,500}\]\((?![a-z]+:)[^()\s]{1,2000}\)")
_SAYS = re.compile(r"[^\W\d_]")
# `Templates/`, `_templates/`, `99 - Templates/`: where the app keeps what new notes are made of.
_TEMPLATES = re.compile(r"(?:^|/)[\W\d_]*templates?/", re.IGNORECASE)
_NO_TEXT = re.compile(r"^#{1,6}[ \t][^\n]*|```(?:.*?```|.*)", re.MULTILINE | re.DOTALL)
_LITTLE = 120  # letters; what a template asks for, and less than a note tells


def form_of(path: str, markdown: str, links: int, problems: Iterable[Problem]) -> Form | None:
    """What a note is instead of a text; `links` are how many to other notes its body has.

    A list of pages elsewhere is what its owner collected, and not meant.
    """
    if any(problem.code == "template" for problem in problems) or _is_form(path, markdown):
        return "template"
    return "links" if links >= _FEW and _is_list_of_links(markdown) else None


def _is_form(path: str, markdown: str) -> bool:
    """Whether a note among templates is to be filled in, for a text on templates may lie there."""
    if not _TEMPLATES.search(path):
        return False
    if PLACEHOLDER.search(markdown):
        return True
    said = _LINK.sub("", _NO_TEXT.sub("", markdown))
    return len(_SAYS.findall(said)) <= _LITTLE


def _is_list_of_links(markdown: str) -> bool:
    """Whether nearly all lines but headings hold links and no word beside them."""
    lines = [line for line in markdown.splitlines() if line.strip() and line[0] != "#"]
    bare = sum(_is_bare(line) for line in lines)
    return bare >= _FEW and bare >= _SHARE * len(lines)


def _is_bare(line: str) -> bool:
    rest, links = _LINK.subn("", line)
    return links > 0 and _SAYS.search(rest) is None
