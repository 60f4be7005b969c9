"""A full capture -> the text that an agent reads, page by page; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from khiip_sidecar.mcp_server.budget import cut
from khiip_sidecar.wire.encode import Json

MOST_VALUES = 30
MOST_DESCRIPTION = 600
MOST_TITLE = 1000
HEAD = (
    *("id", "title", "source", "url", "author", "vault_path", "description"),
    *("recorded_at", "modified_at", "archived", "superseded_by", "user_tags", "entities"),
    *("layer", "altitude", "mem_type", "mem_state", "thread_id", "importance", "pinned"),
    "extraction_status",
)


def head_of(capture: Json) -> Json:
    """What a capture is, without its payload; long lists are cut."""
    head = {name: capture.get(name) for name in HEAD}
    for name in ("user_tags", "entities"):
        head[name] = (head[name] or [])[:MOST_VALUES]
    for name, most in (("description", MOST_DESCRIPTION), ("author", MOST_TITLE)):
        if head[name] is not None:
            head[name] = cut(str(head[name]), most)
    head["title"] = cut(head["title"] or "", MOST_TITLE)
    return head


def text_of(capture: Json) -> str:
    """The whole text of a capture as one reads it; "" when it has no payload."""
    payload = capture.get("payload")
    if not isinstance(payload, dict):
        return ""
    parts = _READERS[payload["kind"]](payload)
    return "\n\n".join(part for part in parts if part)


def page_of(text: str, offset: int, limit: int) -> Json:
    """One page of a text, in code points, and where the next begins."""
    part = text[offset : offset + limit]
    end = min(offset, len(text)) + len(part)
    more = end < len(text)
    return {
        "text": part,
        "offset": offset,
        "returned_chars": len(part),
        "total_chars": len(text),
        "has_more": more,
        "next_offset": end if more else None,
    }


def _body(payload: Json) -> Iterator[str]:
    yield payload.get("body_text") or ""


def _post(payload: Json) -> Iterator[str]:
    yield payload.get("text") or ""
    if article := payload.get("article"):
        yield article.get("title") or ""
        yield article.get("preview") or ""
    if quoted := payload.get("quoted_tweet"):
        said = "\n".join(part for part in _post(quoted) if part)
        yield f"Quoted: {said}"


def _thread(payload: Json) -> Iterator[str]:
    yield payload.get("body_text") or ""
    for comment in payload.get("comments") or []:
        yield from _comment(comment)


def _comment(comment: Json, depth: int = 0) -> Iterator[str]:
    who = comment.get("author") or "someone"
    yield f"{'> ' * depth}{who}: {comment.get('body_markdown') or ''}"
    for reply in comment.get("replies") or []:
        yield from _comment(reply, depth + 1)


def _article(payload: Json) -> Iterator[str]:
    for section in payload.get("sections") or []:
        heading = section.get("heading")
        yield f"## {heading}" if heading else ""
        yield section.get("text") or ""
    if references := payload.get("references"):
        yield "References:\n" + "\n".join(str(each) for each in references)


def _film(payload: Json) -> Iterator[str]:
    yield payload.get("description") or ""
    chapters = [f"{_clock(each['start'])} {each['title']}" for each in payload["chapters"]]
    yield "\n".join(chapters)
    yield "\n".join(f"{_clock(each['start'])} {each['text']}" for each in payload["transcript"])


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "[?]"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"[{hours}:{minutes:02}:{rest:02}]" if hours else f"[{minutes}:{rest:02}]"


def _paper(payload: Json) -> Iterator[str]:
    for page in payload.get("pages") or []:
        number = page.get("number")
        yield f"[page {number}]" if number is not None else ""
        yield page.get("text") or ""
    for mark in payload.get("highlights") or []:
        note = f" ({mark['note']})" if mark.get("note") else ""
        yield f"Highlight: {mark.get('text') or ''}{note}"


_READERS: dict[str, Callable[[Json], Iterator[str]]] = {
    "note": _body,
    "web": _body,
    "x": _post,
    "reddit": _thread,
    "wiki": _article,
    "youtube": _film,
    "pdf": _paper,
}
