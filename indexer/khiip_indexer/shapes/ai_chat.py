"""Conversations with AI assistants: clipped pages, imported exports, chats saved in the editor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from khiip_indexer.fields.dates import parse_date
from khiip_indexer.fields.sources import as_url, host_of
from khiip_indexer.payloads.common import Turn
from khiip_indexer.payloads.lines import plain, unquote, without
from khiip_indexer.shapes.base import Doc, Reading, Shape

_HOSTS = {
    "chatgpt.com": "ChatGPT",
    "chat.openai.com": "ChatGPT",
    "claude.ai": "Claude",
    "gemini.google.com": "Gemini",
    "grok.com": "Grok",
    "chat.deepseek.com": "DeepSeek",
    "chat.mistral.ai": "Le Chat",
    "copilot.microsoft.com": "Copilot",
    "www.perplexity.ai": "Perplexity",
}
_THREAD = re.compile(r"/(?:c|chat|share|app|thread)/([0-9A-Za-z-]{8,64})")
_LABEL = re.compile(
    r"^(?:\*\*(?P<bold>[^*\n]{1,40})\*\*:?|#{3,6} (?P<head>[^\n#]{1,60}))(?P<rest>[^\n]*)$"
)
_SAID = re.compile(
    r"\b(?:said|disse|dijo|a dit|sagte|ha detto|zei|говорит|сказал)\b|说|說|さん|말", re.I
)
_CHAT_LINE = re.compile(
    r"^\*\*(?P<who>user|human|you|ai|assistant|bot)\*\*:[ \t]*(?P<text>.*)$", re.I
)
_STAMP_LINE = re.compile(r"^\[(?:Timestamp|Context|Model)[^\]\n]*\]\s*$")
_CALLOUT = re.compile(r"^>[ \t]?\[!nexus_(?P<role>user|agent|assistant)\][+-]?[ \t]*(?P<label>.*)$")
_OLD_NEXUS = re.compile(r"^#{3,4} (?P<who>[\w ]{1,30}), on (?P<when>[^;\n]{4,60});\s*$")
_HEADER_LINE = re.compile(r"^(?:# Title: |Created: |Last Updated: |Chat URL: )")
_YOU = re.compile(
    r"^(?:you|user|human|u|você|tú|vous|du|ihr|tu|вы|你|您|あなた|나)\b", re.IGNORECASE
)


def role_of(label: str) -> str:
    """Return who speaks under a label: the person, in any language there is, or the assistant."""
    return "user" if _YOU.match(label.strip()) else "assistant"


def _turns(parts: Iterator[tuple[str, str]]) -> tuple[Turn, ...]:
    return tuple(
        Turn(role=role_of(label), text=plain(text).strip(), label=label or None)
        for label, text in parts
    )


# Clipped pages -----------------------------------------------------------------------------


def matches_clip(doc: Doc) -> bool:
    """Say whether the page is a conversation on the site of an AI assistant."""
    return (host_of(doc.url) or "") in _HOSTS


def read_clip(doc: Doc) -> Reading:
    """A turn opens with a bold label alone in its line; a rule inside an answer opens none."""
    url = doc.url
    thread = _THREAD.search(url or "")
    return Reading(
        clipped=True,
        site_name=_HOSTS[host_of(url) or ""],
        thread_id=thread.group(1) if thread else None,
        extras={"turns": _turns(_labelled(doc.lines))},
    )


def _labelled(lines: list[str]) -> Iterator[tuple[str, str]]:
    label: str | None = None
    held: list[str] = []
    for line in lines:
        match = _LABEL.match(line) if line.startswith(("**", "###")) else None
        name = (match["bold"] or match["head"] or "") if match else ""
        if match and not match["rest"].strip() and (_SAID.search(name) or _YOU.match(name)):
            if label is not None:
                yield label, _trimmed(held)
            label, held = _speaker(name), []
        else:
            held.append(line)
    if label is not None:
        yield label, _trimmed(held)


def _speaker(name: str) -> str:
    return _SAID.split(name, maxsplit=1)[0].strip(" :") or name


def _trimmed(lines: list[str]) -> str:
    """Return a turn's text without the rule that parts it from the next."""
    text = "\n".join(lines).strip()
    return text.removesuffix("---").strip()


# Imported exports --------------------------------------------------------------------------


def matches_nexus(doc: Doc) -> bool:
    """Say whether Nexus wrote the note: it leaves its key."""
    return doc.meta.text("nexus") is not None


def read_nexus(doc: Doc) -> Reading:
    """The conversation's last message is when it was saved, its first when it was true."""
    meta = doc.meta
    head = {
        key: line.split(": ", 1)[1].strip()
        for line in doc.lines[:12]
        if _HEADER_LINE.match(line)
        for key in [line.split(": ", 1)[0]]
    }
    frame = {i for i, line in enumerate(doc.lines[:12]) if _HEADER_LINE.match(line)}
    body = ["" if i in frame else _spoken_line(line) for i, line in enumerate(doc.lines)]
    return Reading(
        source="note",
        url=as_url(head.get("Chat URL")),
        title=meta.text("title") or head.get("# Title") or meta.text("aliases"),
        recorded_at=parse_date(meta.text("update_time") or ""),
        valid_from=parse_date(meta.text("create_time") or ""),
        thread_id=meta.text("conversation_id"),
        clipped=True,
        body="\n".join(body),
        extras={"provider": meta.text("provider"), "turns": _turns(_nexus_turns(doc.lines))},
    )


def _spoken_line(line: str) -> str:
    """Return a message's line as running text: its callout is the tool's frame."""
    callout = _CALLOUT.match(line)
    if callout:
        return "**User**" if callout["role"] == "user" else "**Assistant**"
    if line.startswith("<!-- UID:"):
        return ""
    return unquote(unquote(line)) if line.startswith(">>") else unquote(line)


def _nexus_turns(lines: list[str]) -> Iterator[tuple[str, str]]:
    label: str | None = None
    held: list[str] = []
    for line in lines:
        callout, old = _CALLOUT.match(line), _OLD_NEXUS.match(line)
        if callout or old:
            if label is not None:
                yield label, "\n".join(held)
            role = callout["role"] if callout else (old["who"] if old else "")
            label, held = ("User" if role.lower() == "user" else "Assistant"), []
        elif label is not None and not line.startswith("<!--") and line.strip() != "---":
            bare = unquote(unquote(line)) if line.startswith(">>") else unquote(line)
            held.append(bare)
    if label is not None:
        yield label, "\n".join(held)


# Chats saved in the editor -----------------------------------------------------------------


def matches_copilot(doc: Doc) -> bool:
    """Say whether the note is a saved conversation of Copilot."""
    return "copilot-conversation" in doc.meta.tags("tags", "tag")


def read_copilot(doc: Doc) -> Reading:
    """The file's `epoch` is the first message's time in milliseconds."""
    meta = doc.meta
    when = parse_date(meta.text("epoch") or "")
    drop = [i for i, line in enumerate(doc.lines) if _STAMP_LINE.match(line)]
    return Reading(
        source="note",
        title=meta.text("title", "topic"),
        recorded_at=when,
        clipped=True,
        body=without(doc.lines, drop),
        thread_id=meta.text("conversation_id"),
        extras={"provider": meta.text("modelKey"), "turns": _turns(_chat_lines(doc.lines))},
    )


def _chat_lines(lines: list[str]) -> Iterator[tuple[str, str]]:
    label: str | None = None
    held: list[str] = []
    for line in lines:
        match = _CHAT_LINE.match(line)
        if match:
            if label is not None:
                yield label, "\n".join(held)
            label, held = match["who"], [match["text"]]
        elif not _STAMP_LINE.match(line):
            held.append(line)
    if label is not None:
        yield label, "\n".join(held)


# Conversations in basic-memory's form: `### User (time)` --------------------------------------

_IMPORTED = re.compile(r"^### (User|Human|Assistant)(?: \([^)\n]*\))?\s*$", re.MULTILINE)


def matches_conversation(doc: Doc) -> bool:
    """Say whether an importer wrote the note as a conversation."""
    kind = (doc.meta.text("type") or "").lower()
    return kind == "conversation" and bool(_IMPORTED.search(doc.text))


def read_conversation(doc: Doc) -> Reading:
    """A heading with a name and a time opens a turn."""
    parts = _IMPORTED.split(doc.text)
    turns = _turns(zip(parts[1::2], parts[2::2], strict=False))
    base = Reading(source="note", clipped=True, extras={"turns": turns})
    return replace(base, thread_id=doc.meta.text("conversation_id"))


CLIP = Shape("ai-chat", matches_clip, read_clip)
NEXUS = Shape("nexus", matches_nexus, read_nexus)
COPILOT = Shape("copilot", matches_copilot, read_copilot)
CONVERSATION = Shape("conversation", matches_conversation, read_conversation)
