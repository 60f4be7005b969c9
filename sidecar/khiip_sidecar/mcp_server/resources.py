"""Resources and prompts: addresses and texts that a client can offer to its user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, quote, unquote, urlsplit

from khiip_indexer.errors import NotFound, UsageError
from khiip_sidecar.client import Backend
from khiip_sidecar.mcp_server.reading import page_of, text_of
from khiip_sidecar.wire.encode import Json, to_json

STATUS = "khiip://status"
CAPTURE = "khiip://capture/{id}"
CAPTURE_PAGE = "khiip://capture/{id}{?offset,limit}"
PAGE_CHARS = 20_000
MOST_CHARS = 100_000
RECENT = 20
MOST_TEXT = 2000


@dataclass(frozen=True, slots=True)
class Content:
    """What is read at an address."""

    uri: str
    mime_type: str
    text: str


def capture_uri(capture_id: str, offset: int | None = None) -> str:
    """The address of a capture's text, from a character on."""
    where = f"khiip://capture/{quote(capture_id.encode('utf-8', 'replace'), safe='')}"
    return f"{where}?offset={offset}" if offset else where


def recent(backend: Backend) -> list[Json]:
    """The newest captures as lean rows, so that a client can offer them."""
    rows: list[Json] = backend.captures({"view": ["lean"], "limit": [str(RECENT)]})
    return rows


def read(backend: Backend, uri: str) -> Content:
    """What is at an address; raises NotFound and UsageError."""
    if uri == STATUS:
        return Content(uri, "application/json", to_json(status(backend)).decode())
    parts = urlsplit(uri)
    if parts.scheme != "khiip" or parts.netloc != "capture" or len(parts.path) < 2:
        raise NotFound("There is no such resource.", hint=f"There are {STATUS} and {CAPTURE}.")
    asked = parse_qs(parts.query)
    capture_id = unquote(parts.path[1:])
    page = page_of(
        text_of(backend.capture(capture_id)),
        _number(asked, "offset", 0, 10**9),
        _number(asked, "limit", PAGE_CHARS, MOST_CHARS),
    )
    return Content(uri, "text/plain", page["text"] + _onward(capture_id, page))


def _onward(capture_id: str, page: Json) -> str:
    if not page["has_more"]:
        return ""
    end, total = page["next_offset"], page["total_chars"]
    return f"\n\n[{end:,} of {total:,} characters; go on at {capture_uri(capture_id, end)}]"


def _number(asked: Mapping[str, list[str]], name: str, default: int, most: int) -> int:
    text = asked.get(name, [str(default)])[0]
    if not text.isascii() or not text.isdecimal() or not 0 <= int(text[:12]) <= most:
        raise UsageError(f"`{name}` must be a whole number up to {most}.", hint="Leave it out.")
    return int(text[:12])


def status(backend: Backend) -> Json:
    """The health of the index, and which vault and model it is."""
    return {"health": backend.health(), "index": backend.index_state()}


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt as users see it; `arguments` are (name, what it is, whether it is needed)."""

    name: str
    title: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]


PROMPTS = (
    PromptSpec(
        "recall-before-acting",
        "Recall before acting",
        "Look up what the vault knows about a task before starting on it.",
        (
            ("task", "What is to be done.", True),
            ("entity", "The project, person or topic that it is about.", False),
        ),
    ),
    PromptSpec(
        "what-do-i-know-about",
        "What do I know about ...?",
        "Gather what the vault holds on a topic, with its sources.",
        (
            ("topic", "The topic, in your own words.", True),
            ("entity", "Only notes about this person, project or topic.", False),
            ("tag", "Only notes with this tag.", False),
            ("folder", "Only notes in this folder.", False),
        ),
    ),
)


def prompt_text(name: str, given: Mapping[str, str]) -> str:
    """What a prompt says; raises NotFound, and UsageError when an argument is missing."""
    spec = next((each for each in PROMPTS if each.name == name), None)
    if spec is None:
        names = ", ".join(each.name for each in PROMPTS)
        raise NotFound(f"There is no such prompt. The prompts are: {names}.")
    said = {key: value.strip()[:MOST_TEXT] for key, value in given.items() if value.strip()}
    for argument, doc, needed in spec.arguments:
        if needed and argument not in said:
            raise UsageError(f"`{argument}` is missing.", hint=doc)
    return _before_acting(said) if name == "recall-before-acting" else _known_about(said)


def _before_acting(said: Mapping[str, str]) -> str:
    about = f', entity_name="{said["entity"]}"' if "entity" in said else ""
    return (
        f"I want you to do this: {said['task']}\n\n"
        "Before you start, look up what my vault knows, with the recall tool:\n"
        f"1. recall(query=<the task in a few words>{about}): what was done and decided before.\n"
        f'2. recall(query=<the same>, layer="caveat"{about}): what went wrong, and rules to keep.\n'
        f'3. recall(query=<the same>, layer="goal"{about}): what it is for.\n'
        "4. Where files are touched: recall(path=<the file>): its history.\n"
        "Read what matters whole with get_capture(id). Then tell me in a few lines what you found "
        "and what it changes, with the paths of the notes, and only then act. If you find "
        "nothing, say so."
    )


def _known_about(said: Mapping[str, str]) -> str:
    names = {"entity": "entity_name", "tag": "tag", "folder": "folder"}
    filters = "".join(f', {to}="{said[key]}"' for key, to in names.items() if key in said)
    return (
        f"What do I know about {said['topic']}?\n\n"
        f'Use recall(query="{said["topic"]}"{filters}), go on with its next_offset while hits '
        "still fit, and read the best ones whole with get_capture(id). Answer from my notes "
        "alone: what they say, where they disagree, what is open, how old each is. Name the path "
        "of the note behind every statement, and say plainly what is not in them."
    )
