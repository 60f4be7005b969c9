"""Every address of the service with its verbs: the routes and their description come from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from khiip_sidecar.wire import params
from khiip_sidecar.wire.params import Parameter

Media = Literal["application/json", "text/event-stream", "text/html", "*/*"]

VERSIONED = "/api/v1/"
GROUPS = {"meta": "service", "related": "recall"}
EVENTS = ("progress", "error")
ASSETS = ("page.css", "page.js", "swagger-ui-bundle.js", "swagger-ui.css")

ID = Parameter("id", "text", "The capture's id; a `/` in it is written %2F.")
ASSET = Parameter("asset", "choice", "A file of the page.", choices=ASSETS)


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that can be asked of one address.

    `answer` and `body` name schemas, `faults` the codes of errors beyond those that every request
    may meet, `open` says that no key is needed, `examples` names agreed answers. A GET answers
    HEAD too.
    """

    name: str
    path: str
    summary: str
    doc: str = ""
    method: Literal["GET", "POST"] = "GET"
    parameters: tuple[Parameter, ...] = ()
    in_path: tuple[Parameter, ...] = ()
    body: str | None = None
    answer: str | None = None
    status: int = 200
    media: Media = "application/json"
    faults: tuple[str, ...] = ()
    open: bool = False
    examples: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """Where the page lists it: the word after the version in its address."""
        if not self.path.startswith(VERSIONED):
            return "service"
        word = self.path.removeprefix(VERSIONED).partition("/")[0]
        return GROUPS.get(word, word)


STORED = (
    "storage_failed",
    "index_busy",
    "index_damaged",
    "index_io_failed",
    "index_not_readable",
    "index_from_newer_version",
    "index_missing",
    "index_place_taken",
    "vault_not_found",
    "vault_unavailable",
)
WRITTEN = (*STORED, "index_not_writable", "disk_full")
UNREAD = ("note_offline", "note_unreadable", "read_timeout")
PARSED = ("bad_parameter", "unknown_parameter", "too_long", "empty_query")
IN_VAULT = ("path_outside_vault", "reserved_folder")
MODEL = (
    *("model_unavailable", "model_not_found", "model_damaged", "model_unsupported"),
    "model_dimension",
    *("no_embedder", "consent_needed", "no_key"),
    *("embedder_refused", "embedder_gone", "embedder_failed", "embedder_unreachable"),
)
COMPARED = (*MODEL, "index_warming", "index_of_other_model")

# An id may hold slashes, so of two addresses the longer one comes first.
VERBS: tuple[Verb, ...] = (
    Verb(
        "health",
        "/health",
        "Whether the service can do its work",
        answer="Health",
        faults=STORED,
        open=True,
        examples=("health",),
    ),
    Verb(
        "meta",
        "/api/v1/meta",
        "Version, settings, model",
        answer="Meta",
        faults=MODEL,
        examples=("meta",),
    ),
    Verb(
        "recall",
        "/api/v1/recall",
        "Find captures, the history of a file, or what the notes are about",
        doc=(
            "With a query, or any filter: a search. Hits come best first, one per chain of "
            "versions. With `path`: the history of the notes whose path holds it, and with a query "
            "too what is remembered in `related_memories`. With neither: an overview of the "
            "entities that notes are about, the most active first."
        ),
        parameters=params.RECALL,
        answer="Recall",
        faults=(*PARSED, "bad_match_expression", *IN_VAULT, *COMPARED, *STORED),
        examples=("recall_lean", "recall_full", "recall_explained", "history", "overview"),
    ),
    Verb(
        "related",
        "/api/v1/related",
        "Captures near a given one in meaning",
        doc="Give `id` or `path`, not both.",
        parameters=params.RELATED,
        answer="Recall",
        faults=(*PARSED, *IN_VAULT, *COMPARED, *STORED, "not_found"),
        examples=("related_lean",),
    ),
    Verb(
        "follow_index",
        "/api/v1/index/events",
        "Progress of indexing as server-sent events",
        doc=(
            "`progress` events hold what GET /api/v1/index answers, but for what may be long: one "
            "at once, then one after each change, at most four a second. An `error` event says "
            "why the state could not be read just now. A comment comes every 15 seconds when all "
            "is quiet."
        ),
        answer="Progress",
        media="text/event-stream",
        faults=("too_many_streams",),
    ),
    Verb(
        "index",
        "/api/v1/index",
        "What indexing does, and what the index holds",
        answer="Index",
        faults=STORED,
        examples=("index",),
    ),
    Verb(
        "start_index",
        "/api/v1/index",
        "Have the vault read again, in the background",
        method="POST",
        body="IndexOptions",
        answer="Index",
        status=202,
        faults=("bad_parameter", "bad_json", "already_running", "not_implemented", *STORED),
        examples=("index",),
    ),
    Verb(
        "refetch",
        "/api/v1/captures/{id}/refetch",
        "Read one note again and embed it anew, offline",
        method="POST",
        in_path=(ID,),
        parameters=params.REFETCH,
        answer="Capture",
        faults=(
            *(*PARSED, "not_implemented", "not_found", "already_running"),
            *("index_warming", *MODEL, *WRITTEN, *UNREAD),
        ),
        examples=("capture",),
    ),
    Verb(
        "access",
        "/api/v1/captures/{id}/access",
        "Record that a capture was read",
        method="POST",
        in_path=(ID,),
        status=204,
        faults=("not_found", *WRITTEN),
    ),
    Verb(
        "capture",
        "/api/v1/captures/{id}",
        "One capture, whole",
        in_path=(ID,),
        answer="Capture",
        faults=("not_found", *STORED),
        examples=("capture",),
    ),
    Verb(
        "captures",
        "/api/v1/captures",
        "Captures, newest first",
        parameters=params.CAPTURES,
        answer="Captures",
        faults=(*PARSED, *IN_VAULT, "index_warming", *STORED),
        examples=("captures_lean", "captures_full"),
    ),
    Verb(
        "openapi",
        "/openapi.json",
        "This description",
        answer="Description",
        open=True,
    ),
    Verb(
        "docs",
        "/docs",
        "This description as a page; works with no network",
        media="text/html",
        open=True,
    ),
    Verb(
        "asset",
        "/docs/{asset}",
        "Scripts and styles of the page",
        in_path=(ASSET,),
        media="*/*",
        faults=("not_found",),
        open=True,
    ),
)


def open_paths() -> frozenset[str]:
    """The paths that are answered without a key, letter by letter."""
    paths = {verb.path for verb in VERBS if verb.open} - {"/docs/{asset}"}
    return frozenset(paths | {f"/docs/{name}" for name in ASSETS})
