"""Saved Reddit Exporter: one note a saved post or comment, facts in the frontmatter."""

from __future__ import annotations

import re

from khiip_indexer.fields.sources import as_url
from khiip_indexer.payloads.common import Engagement
from khiip_indexer.payloads.lines import headings, number, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_BADGE = re.compile(r"^>[ \t]\S{1,4} \*\*[\w ]{1,30}\*\* •|^> 📝 \[View original post\]")
_FRAME = re.compile(
    r"^(?:\*\*Tags:|\*?\[?View on Reddit|🔗 \*\*External Link:\*\*|📸 \*\*Image\*\*)"
)
_TYPE = re.compile(r"^reddit-(?:\w+-)?(?:post|comment|upvoted)$")


def matches(doc: Doc) -> bool:
    return bool(_TYPE.match((doc.meta.text("type") or "").lower()))


def read(doc: Doc) -> Reading:
    """`created` is when it was posted; `url`, where there is one, is what the post links to."""
    meta = doc.meta
    gone = [i for i, line in enumerate(doc.lines) if _BADGE.match(line) or _FRAME.match(line)]
    gone += [i for i, level, _ in headings(doc.lines) if level == 1]
    score, replies = number(meta.text("score")), number(meta.text("num_comments"))
    return Reading(
        source="reddit",
        url=as_url(meta.text("permalink")),
        title=meta.text("title", "post_title"),
        created_is_published=True,
        clipped=True,
        thread_id=meta.text("id"),
        body=without(doc.lines, gone),
        extras={
            "post_id": meta.text("link_id", "id") or "",
            "link_url": as_url(meta.text("url")),
            "engagement": Engagement(net_score=score, comments=replies),
        },
    )


SHAPE = Shape("reddit-export", matches, read)
