"""MarkDownload: a clip whose first section is the excerpt, whose tags are the site's keywords."""

from __future__ import annotations

import re

from khiip_indexer.payloads.lines import plain, quote_runs, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_EXCERPT = re.compile(r"^>[ \t]?##[ \t]+Excerpt\s*$")
_ZONE = re.compile(r"\(UTC [+-]\d{2}:\d{2}\)")


def matches(doc: Doc) -> bool:
    return bool(_ZONE.search(doc.meta.text("created") or "")) and doc.has("> ## Excerpt")


def read(doc: Doc) -> Reading:
    lines = doc.lines
    run = next((run for run in quote_runs(lines) if _EXCERPT.match(lines[run.start])), None)
    if run is None:
        return Reading(clipped=True)
    excerpt = plain("\n".join(run.quote(lines).split("\n")[1:]))
    return Reading(
        clipped=True,
        description=excerpt or None,
        body=without(lines, range(run.start, run.stop)),
    )


SHAPE = Shape("markdownload", matches, read)
