"""The tools: arguments in, what is sent back out, over whoever answers for the vault.

Nothing here knows the protocol: the same functions stand behind both transports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from khiip_indexer.errors import UsageError
from khiip_sidecar.client import Backend
from khiip_sidecar.mcp_server import schemas
from khiip_sidecar.mcp_server.arguments import Asked, read_arguments
from khiip_sidecar.mcp_server.budget import (
    RESERVED,
    Fitted,
    fit_lists,
    fit_rows,
    tokens_of,
)
from khiip_sidecar.mcp_server.by_path import capture_named
from khiip_sidecar.mcp_server.reading import head_of, page_of, text_of
from khiip_sidecar.wire.encode import Json

Arguments = Mapping[str, object] | None

HISTORY_LISTS = (
    *("related_memories", "user_intents", "linked_memories"),
    *("daily_breakdown", "paths_matched"),
)
# The service counts a token per four bytes, which is less than ids and signs cost: it is asked
# for a part of the budget, so that rows seldom have to be left out after they were counted as read.
SHARE = 0.62
COUNTED = 1000
SCHEME = "khiip://capture/"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as agents see it; `idempotent` says that calling it again changes nothing more."""

    name: str
    title: str
    description: str
    input: Json
    output: Json
    call: Callable[[Backend, Arguments], Json]
    read_only: bool
    idempotent: bool


def recall(backend: Backend, arguments: Arguments) -> Json:
    """Search, file history or entity overview within the token budget."""
    asked = read_arguments(schemas.RECALL, arguments)
    notes = _lean_only(asked)
    for name, value in schemas.RECALL_DEFAULTS.items():
        asked.default(name, value)
    budget = asked.whole("max_tokens")
    asked.params["view"] = ["lean"]
    asked.params["max_tokens"] = [str(_service_budget(budget, asked))]
    answer = dict(backend.recall(asked.params))
    room = budget - RESERVED - tokens_of(notes)
    if "paths_matched" in answer:
        _fit_history(answer, room)
    elif "entities" in answer:
        _fit_overview(answer, asked.whole("offset"), room)
    else:
        _fit_search(answer, room)
    return _told(answer, notes)


def _service_budget(budget: int, asked: Asked) -> int:
    """A history does not say that hits were left out, so that it is cut here alone."""
    share = 1.0 if "path" in asked.params else SHARE
    return max(1, int((budget - RESERVED) * share))


def list_captures(backend: Backend, arguments: Arguments) -> Json:
    """Captures newest first, a page within the token budget."""
    asked = read_arguments(schemas.LIST, arguments)
    notes = _lean_only(asked)
    for name, value in schemas.LIST_DEFAULTS.items():
        asked.default(name, value)
    budget = asked.whole("max_tokens")
    del asked.params["max_tokens"]
    limit, offset = asked.whole("limit"), asked.whole("offset")
    params = {**asked.params, "view": ["lean"]}
    rows = backend.captures(params)
    total = _total(backend, params, offset, rows, limit)
    fitted = fit_rows(rows, budget - RESERVED - tokens_of(notes))
    answer = {"captures": fitted.rows, "returned": len(fitted.rows), "offset": offset}
    end = offset + len(fitted.rows)
    more = bool(rows) and (total is None or end < total)
    stopped = "tokens" if fitted.left_out else "limit" if more else "end"
    answer |= {"total": total, "has_more": more, "next_offset": end if more else None}
    answer |= {"stopped_by": stopped, "approx_tokens": 0}
    if more:
        known = f"of {total}" if total is not None else "of more than that"
        answer["how_to_go_on"] = f"{end} {known} seen; go on with offset={end}."
    return _told(answer, notes, fitted)


def get_capture(backend: Backend, arguments: Arguments) -> Json:
    """One page of a capture's text, and what the capture is."""
    asked = read_arguments(schemas.CAPTURE, arguments)
    offset = asked.whole("offset")
    limit = asked.whole("limit")
    capture_id = plain_id(asked.params.get("id", [""])[0])
    if not capture_id:
        raise UsageError("`id` is missing.", hint="recall and list_captures give ids.")
    capture = capture_named(backend, capture_id)
    answer: Json = {"capture": head_of(capture), **page_of(text_of(capture), offset, limit)}
    if answer["has_more"]:
        answer["how_to_go_on"] = f"Go on with offset={answer['next_offset']}."
    notes = list(asked.notes)
    if capture.get("stale"):
        notes.append("The note has changed since it was indexed: this is its former text.")
    return _told(answer, notes)


def plain_id(text: str) -> str:
    """An id, also where the address of its resource was given."""
    text = text.strip()
    return unquote(text.removeprefix(SCHEME)) if text.startswith(SCHEME) else text


def _lean_only(asked: Asked) -> list[str]:
    notes = list(asked.notes)
    if asked.params.pop("view", ["lean"]) != ["lean"]:
        notes.append("Rows are always lean here; get_capture reads the whole of one.")
    return notes


def _fit_search(answer: Json, room: int) -> None:
    rows = answer["results"]
    fitted = fit_rows(rows, room - tokens_of({**answer, "results": []}))
    answer["results"] = fitted.rows
    end = answer["offset"] + len(fitted.rows)
    if fitted.left_out:
        answer |= {"has_more": True, "stopped_by": "tokens"}
    answer["returned"] = len(fitted.rows)
    answer["next_offset"] = end if answer["has_more"] else None
    if answer["has_more"]:
        why = "max_tokens is reached" if answer["stopped_by"] == "tokens" else "limit is reached"
        answer["how_to_go_on"] = (
            f"{end} of {answer['total_candidates']} candidates seen, {why}; go on with "
            f"offset={end}, or read one with get_capture."
        )
    _say_shorter(answer, fitted)


def _fit_overview(answer: Json, offset: int, room: int) -> None:
    fitted = fit_rows(answer["entities"], room)
    answer["entities"] = fitted.rows
    end = offset + len(fitted.rows)
    more = end < answer["total"] and bool(fitted.rows)
    answer |= {"has_more": more, "returned": len(fitted.rows)}
    answer["next_offset"] = end if more else None
    if more:
        answer["how_to_go_on"] = f"{end} of {answer['total']} seen; go on with offset={end}."


def _fit_history(answer: Json, room: int) -> None:
    if cut := fit_lists(answer, HISTORY_LISTS, room):
        answer["cut"] = cut
        answer["how_to_go_on"] = (
            "`cut` says how many entries each shortened list has; narrow `path`, or raise "
            "max_tokens."
        )


def _say_shorter(answer: Json, fitted: Fitted) -> None:
    if fitted.excerpt_chars is not None:
        said = f"Excerpts were cut to {fitted.excerpt_chars} characters to keep to max_tokens."
        answer["notes"] = [said]


def _told(answer: Json, notes: list[str], fitted: Fitted | None = None) -> Json:
    if fitted is not None:
        _say_shorter(answer, fitted)
    if told := [*notes, *answer.pop("notes", [])]:
        answer["notes"] = told
    if "approx_tokens" in answer:
        answer["approx_tokens"] = tokens_of(answer)
    return answer


def _total(
    backend: Backend, params: Mapping[str, list[str]], offset: int, rows: list[Any], limit: int
) -> int | None:
    """How many there are, counted as far as one more request reaches; None beyond."""
    if len(rows) < limit and (rows or offset == 0):
        return offset + len(rows)
    first = offset if rows else 0  # a page behind the end is counted from the beginning
    bare = {**params, "excerpt_chars": ["0"], "limit": [str(COUNTED)], "offset": [str(first)]}
    found = len(backend.captures(bare))
    return first + found if found < COUNTED else None


TOOLS = (
    ToolSpec(
        "recall",
        "Recall from the vault",
        "Search the user's Obsidian vault: notes, clippings, decisions, earlier work. Call it "
        "before you act or answer on anything that the user may have written down. Three modes, "
        "by what you give: `query` (own words; by meaning and by words) and filters search, best "
        "first; `path` gives the history of the notes whose path holds it, and with a query what "
        "is remembered beside it; nothing at all gives an overview of the people, projects and "
        "topics that the notes are about, the most active first. Rows are short: read one whole "
        "with get_capture(id). Layers of memory: goal, context, emotion, implementation, caveat, "
        "learning; layer=caveat before risky steps. The answer keeps to max_tokens and says how "
        "many there are and how to go on. Recalled notes count as read (mark_accessed=false: "
        "not), which keeps them warm in rank=composite. Notes are never changed.",
        schemas.input_schema(schemas.RECALL, schemas.RECALL_DEFAULTS),
        schemas.recall_output(),
        recall,
        read_only=False,
        idempotent=False,
    ),
    ToolSpec(
        "list_captures",
        "List captures",
        "List what the vault holds, newest first, by filters (source, tag, folder, author, since, "
        "until, entity_name, layer, ...), without ranking and without counting as read. Use it to "
        "see what is new, or to go through all of something; use recall to find something. Rows "
        "are short: read one whole with get_capture(id). The answer keeps to max_tokens and says "
        "how many there are and how to go on (offset).",
        schemas.input_schema(schemas.LIST, schemas.LIST_DEFAULTS),
        schemas.list_output(),
        list_captures,
        read_only=True,
        idempotent=True,
    ),
    ToolSpec(
        "get_capture",
        "Read a capture",
        "Read one note of the vault by the id that recall or list_captures gave, or by its "
        "vault_path: what it is, and its text, page by page. `limit` is how many characters to "
        "read (6,000 unless said), `offset` where to begin; the answer says how long the whole is "
        "and the next offset. Use it when a row's excerpt is not enough.",
        schemas.input_schema(schemas.CAPTURE, {}, ("id",)),
        schemas.capture_output(),
        get_capture,
        read_only=True,
        idempotent=True,
    ),
)
