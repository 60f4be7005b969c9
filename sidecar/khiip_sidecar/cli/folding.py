"""Problems of many notes that need saying once; pure."""

from __future__ import annotations

from collections.abc import Sequence

from khiip_indexer.types import Problem
from khiip_sidecar.cli.output import counted, problem_line

TEMPLATE = "template"


def folded_lines(problems: Sequence[Problem]) -> list[tuple[str, str | None]]:
    """(line, hint) of each problem; several templates, which are what they should be, are one."""
    templates = [each for each in problems if each.code == TEMPLATE]
    if len(templates) < 2:
        return [(problem_line(each), each.hint) for each in problems]
    others = [(problem_line(each), each.hint) for each in problems if each.code != TEMPLATE]
    said = f"{counted(len(templates), 'template')}: their placeholders are kept as text"
    return [*others, (said, templates[0].hint)]
