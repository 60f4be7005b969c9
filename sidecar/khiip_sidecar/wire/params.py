"""What a request may say: every parameter's name, type, limits and one line of help.

HTTP parsing, command-line options and the API description all come from these tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from khiip_indexer.fields.memory import ALTITUDES, MEM_STATES, MEM_TYPES
from khiip_indexer.types import SOURCES

Kind = Literal["text", "whole", "number", "flag", "choice", "time", "folder", "path"]
Many = Literal["one", "commas", "repeat"]
Default = str | int | float | bool | None

VIEWS = ("lean", "full")
BANDS = ("hot", "warm", "cold", "frozen")

NOTHING: tuple[str, ...] = ()
MAX_OFFSET = 1_000_000
MAX_TEXT = 10_000
MAX_VALUES = 100

# A text says something only with a sign that can be seen.
VISIBLE = r"[^\s\x00-\x20\x7f-\xa0\ufeff]"
TAG = r"^[^,]*[^,#\s\x00-\x20\x7f-\xa0\ufeff][^,]*$"
# What `Vault.resolve` takes: relative, no drive, no step out, no hidden folder.
_STEP = r"(?:\.(?=[\\/]|$)|(?!\.|\s*(?:\.|%2[eE]){1,2}\s*(?:[\\/]|$))[^\\/]*)"
IN_VAULT = rf"^(?=[\s\S]*{VISIBLE})(?![\\/]|[A-Za-z]:(?:[\\/]|$)){_STEP}(?:[\\/]{_STEP})*$"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a request.

    `many` says how several values are given: `one` takes one only, `commas` takes `a,b` or
    repeats, `repeat` takes repeats only (for values that hold commas themselves, such as names).
    `served` lists the values that this version can act on; None means all of them. `pattern` is
    what a text must match; a path that does not is refused by the vault. `required` and the
    `choices` of a text describe what an operation insists on.
    """

    name: str
    kind: Kind
    doc: str
    default: Default = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    aliases: tuple[str, ...] = ()
    many: Many = "one"
    served: tuple[str, ...] | None = None
    pattern: str = VISIBLE
    required: bool = False


def _view(default: str = "full") -> Parameter:
    return Parameter(
        "view", "choice", "Full records, or one flat row per capture.", default, choices=VIEWS
    )


def _limit(most: int, default: int) -> Parameter:
    return Parameter("limit", "whole", "How many captures at most.", default, least=1, most=most)


OFFSET = Parameter(
    "offset", "whole", "How many captures to skip first.", 0, least=0, most=MAX_OFFSET
)
EXCERPT_CHARS = Parameter(
    "excerpt_chars", "whole", "Length of the excerpt in characters.", 500, least=0, most=500
)

FILTERS: tuple[Parameter, ...] = (
    Parameter(
        "source", "choice", "Only captures from these sources.", choices=SOURCES, many="commas"
    ),
    Parameter("tag", "text", "Only captures with one of these tags.", many="commas", pattern=TAG),
    Parameter(
        "folder",
        "folder",
        "Only notes below one of these folders.",
        many="repeat",
        pattern=IN_VAULT,
    ),
    Parameter("author", "text", "Only captures by one of these authors.", many="repeat"),
    Parameter(
        "since", "time", "Recorded at or after: 2025, 2025-01-31, an RFC 3339 time, or an age: 7d."
    ),
    Parameter(
        "until", "time", "Recorded up to the end of: 2025, 2025-01-31; before a time or an age: 7d."
    ),
    Parameter("include_archived", "flag", "Archived captures too.", default=False),
)

# Understood and not acted on yet: a filter that was silently ignored would be a wrong answer.
MEMORY_FILTERS: tuple[Parameter, ...] = (
    Parameter("entity_name", "text", "Only notes about this entity.", served=NOTHING),
    Parameter("layer", "text", "Only notes of this memory layer.", served=NOTHING),
    Parameter(
        "altitude", "choice", "Only notes of this altitude.", choices=ALTITUDES, served=NOTHING
    ),
    Parameter(
        "mem_type", "choice", "Only memories of this type.", choices=MEM_TYPES, served=NOTHING
    ),
    Parameter(
        "mem_state", "choice", "Only memories in this state.", choices=MEM_STATES, served=NOTHING
    ),
    Parameter("thread_id", "text", "Only notes of this thread.", served=NOTHING),
    Parameter("band", "choice", "Only notes of this heat.", choices=BANDS, served=NOTHING),
)

RECALL: tuple[Parameter, ...] = (
    Parameter(
        "query", "text", "What to look for, in your own words.", aliases=("q",), required=True
    ),
    _limit(200, 10),
    OFFSET,
    Parameter("min_score", "number", "Leave out hits below this score.", least=-1, most=1),
    _view(),
    *FILTERS,
    EXCERPT_CHARS,
    Parameter(
        "max_tokens",
        "whole",
        "Stop before the answer passes this many tokens (an estimate).",
        least=1,
        most=10_000_000,
    ),
    Parameter(
        "match",
        "choice",
        "How hits are found.",
        "semantic",
        choices=("semantic", "lexical", "hybrid"),
        served=("semantic",),
    ),
    Parameter(
        "rank",
        "choice",
        "How hits are ordered.",
        "relevance",
        choices=("relevance", "composite"),
        served=("relevance",),
    ),
    Parameter(
        "match_syntax",
        "choice",
        "How the query is read.",
        "free",
        choices=("free", "fts5"),
        served=("free",),
    ),
    Parameter("path", "path", "History of the notes whose path holds this.", served=NOTHING),
    Parameter("mark_accessed", "flag", "Record that the hits were read.", served=("false",)),
    Parameter("explain", "flag", "Say why each hit was found.", False, served=("false",)),
    Parameter("passages", "flag", "Show where each match is.", False, served=("false",)),
    *MEMORY_FILTERS,
)

CAPTURES: tuple[Parameter, ...] = (
    _limit(1000, 100),
    OFFSET,
    _view(),
    *FILTERS,
    EXCERPT_CHARS,
    *MEMORY_FILTERS,
)

RELATED: tuple[Parameter, ...] = (
    Parameter("id", "text", "The capture to look around."),
    Parameter("path", "path", "The note to look around: its path in the vault.", pattern=IN_VAULT),
    _limit(200, 10),
    OFFSET,
    _view(),
    EXCERPT_CHARS,
)

REFETCH: tuple[Parameter, ...] = (
    Parameter(
        "dimension",
        "text",
        "What to do again: re-extract.",
        choices=("re-extract",),
        required=True,
    ),
)
