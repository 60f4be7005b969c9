"""What is known of HTML inside notes: which tags there are, and what a page does not show."""

from __future__ import annotations

import re

# Anything else between angle brackets ("<your key>", "List<String>") is text that a person wrote.
_TAG_NAMES = (
    "a abbr address area article aside audio b base bdi bdo big blockquote body br button canvas"
    " caption center cite code col colgroup data datalist dd del details dfn dialog div dl dt em"
    " embed fieldset figcaption figure font footer form g h1 h2 h3 h4 h5 h6 head header hgroup hr"
    " html i iframe img input ins kbd label legend li link main map mark math menu meta meter nav"
    " noscript object ol optgroup option output p param path picture pre progress q rp rt ruby s"
    " samp script search section select slot small source span strike strong style sub summary sup"
    " svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video"
    " wbr"
)
_BREAK_NAMES = (
    "address article aside blockquote br caption center dd details dialog div dl dt fieldset"
    " figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section"
    " summary table tr ul"
)
HTML_TAGS = frozenset(_TAG_NAMES.split())
HTML_BREAKS = frozenset(_BREAK_NAMES.split())
UNSEEN_ELEMENTS = ("script", "style", "head", "svg", "template")

_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)(?:[\s/][^<>]*)?>")


def match_tag(src: str, pos: int, end: int) -> re.Match[str] | None:
    """The tag of a known HTML element that starts at `pos`; group 1 is its name."""
    match = _TAG.match(src, pos, end)
    return match if match and match[1].lower() in HTML_TAGS else None


def drop_unseen(html: str) -> str:
    """HTML without the elements whose content no page shows; an unclosed one stays."""
    for name in UNSEEN_ELEMENTS:
        if re.search(f"<{name}", html, re.IGNORECASE):
            html = _drop_element(html, name)
    return html


def _drop_element(html: str, name: str) -> str:
    opening = re.compile(rf"<{name}\b", re.IGNORECASE)
    closing = re.compile(rf"</{name}\s*>", re.IGNORECASE)
    kept = []
    at = 0
    while start := opening.search(html, at):
        close = closing.search(html, start.end())
        if close is None:
            break
        kept.append(html[at : start.start()])
        at = close.end()
    return "".join(kept) + html[at:]
