"""Values of our own fields that say nothing that can be read: what to tell of them; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from khiip_indexer.fields import memory
from khiip_indexer.fields.checks import PLACEHOLDER
from khiip_indexer.fields.metadata import Meta, normal_key
from khiip_indexer.fields.written_dates import line_of, shortened
from khiip_indexer.types import Frontmatter, Problem

_NOTHING_MEANT = frozenset(
    ("null", "none", "-", "--", "?", "n/a", "na", "tbd", "tba", "unknown", "undefined")
)
# A height or a number of metres is another person's altitude.
_MEASURED = re.compile(r"[+~-]?\s*\d")
_FLAG = "Write true or false."
_IMPORTANCE = "Write a number from 0 to 1, such as 0.5, or one of: low, medium, high."


def _one_of(allowed: tuple[str, ...]) -> str:
    return f"One of: {', '.join(allowed)}."


def _known(meta: Meta, name: str, allowed: tuple[str, ...]) -> bool:
    return memory.one_of(meta, allowed, name) is not None


# `type`, `state` and `status` are not here: other people's words for other things stand there.
_FIELDS: dict[str, tuple[Callable[[Meta], bool], str]] = {
    "importance": (lambda meta: memory.importance(meta) is not None, _IMPORTANCE),
    "pinned": (lambda meta: meta.flag("pinned") is not None, _FLAG),
    "archived": (lambda meta: meta.flag("archived") is not None, _FLAG),
    "layer": (
        lambda meta: memory.layer(meta) is not None,
        f"{_one_of(memory.LAYERS)} Their aliases do as well, such as why, rule or decision.",
    ),
    "altitude": (
        lambda meta: (
            _known(meta, "altitude", memory.ALTITUDES)
            or _MEASURED.match(meta.text("altitude") or "") is not None
        ),
        _one_of(memory.ALTITUDES),
    ),
    "mem_type": (
        lambda meta: _known(meta, "mem_type", memory.MEM_TYPES),
        _one_of(memory.MEM_TYPES),
    ),
    "mem_state": (
        lambda meta: _known(meta, "mem_state", memory.MEM_STATES),
        _one_of(memory.MEM_STATES),
    ),
}


def unreadable_values(front: Frontmatter, meta: Meta, path: str) -> Iterator[Problem]:
    """Name every value of a field of ours that is none of what the field may hold.

    Blanks and placeholders of templates say nothing, and are no problem.
    """
    for name, (is_read, hint) in _FIELDS.items():
        if name not in meta:
            continue
        written = meta.text(name) or ""
        blank = written.casefold() in _NOTHING_MEANT or PLACEHOLDER.search(written)
        if not blank and not is_read(meta):
            shown = f"'{shortened(written)}'" if written else "what is written there"
            reason = f"{name}: {shown} cannot be used, so it does not count"
            yield Problem(path, "bad_value", reason, line_of(front, normal_key(name)), hint)
