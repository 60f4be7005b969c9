"""What a request may say: every parameter's name, type, limits and one line of help.

HTTP parsing, command-line options and the API description all come from these tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from khiip_indexer.fields.facts import KINDS
from khiip_indexer.fields.memory import ALTITUDES, LAYER_OF, LAYERS, MEM_STATES, MEM_TYPES
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

# A text says something only with a sign that can be seen, beside the `-` that leaves it out.
UNSEEN = r"\s\x00-\x20\x7f-\xa0\ufeff"
VISIBLE = rf"[^{UNSEEN}]"
EITHER = rf"^(?!-?[{UNSEEN}]*$)"
TAG = rf"^(?![{UNSEEN}]*-?[{UNSEEN}#]*$)[^,]*$"
# What `Vault.resolve` takes: relative, no drive, no step out, no hidden folder.
_STEP = r"(?:\.(?=[\\/]|$)|(?!\.|\s*(?:\.|%2[eE]){1,2}\s*(?:[\\/]|$))[^\\/]*)"
_INSIDE = rf"(?=[\s\S]*{VISIBLE})(?![\\/]|[A-Za-z]:(?:[\\/]|$)){_STEP}(?:[\\/]{_STEP})*$"
IN_VAULT = rf"^{_INSIDE}"
# The same behind a `-` too; a name that itself begins with it has a `\` before.
FOLDER = rf"^(?:-?\\(?=-)|-|(?!-)){_INSIDE}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a request.

    `many` says how several values are given: `one` takes one only, `commas` takes `a,b` or
    repeats, `repeat` takes repeats only (for values that hold commas themselves, such as names).
    `pattern` is what a text must match; a path that does not is refused by the vault. `required`
    and the `choices` of a text describe what an operation insists on. `words` are other words for a
    choice. A `negatable` parameter leaves out what it names behind a `-`, before a value or before
    its own name.
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
    pattern: str = VISIBLE
    required: bool = False
    words: tuple[tuple[str, str], ...] = ()
    negatable: bool = False


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


# A filter of which any value may hold, and none of those behind a `-`.
_list = partial(Parameter, many="repeat", pattern=EITHER, negatable=True)
_choice = partial(Parameter, kind="choice", many="commas", negatable=True)

FILTERS: tuple[Parameter, ...] = (
    _choice("source", doc="Only captures from these sources.", choices=SOURCES),
    _list("tag", "text", "Only captures with one of these tags.", many="commas", pattern=TAG),
    _list("folder", "folder", "Only notes below one of these folders.", pattern=FOLDER),
    _list("author", "text", "Only captures by one of these authors."),
    Parameter(
        "since",
        "time",
        "Recorded at or after: 2025, 2025-01-31, 2025-W03, an RFC 3339 time, last month, or an "
        "age: 7d, 2 weeks.",
    ),
    Parameter(
        "until",
        "time",
        "Recorded up to the end of: 2025, 2025-01-31, last month; before a time or an age: 7d.",
    ),
    Parameter("include_archived", "flag", "Archived captures too.", default=False),
    _list("in_path", "text", "Only notes whose path holds this text."),
    _list("file", "text", "Only notes whose file name holds this text."),
    _list("property", "text", "Only notes with this property: `key`, or `key:value`."),
    _list("phrase", "text", "Only notes that hold these exact words; each of several."),
)

MEMORY_FILTERS: tuple[Parameter, ...] = (
    _list("entity_name", "text", "Only notes about this entity."),
    _choice(
        "layer",
        doc="Only notes of this memory layer.",
        choices=LAYERS,
        words=tuple(LAYER_OF.items()),
    ),
    _choice("altitude", doc="Only notes of this altitude.", choices=ALTITUDES),
    _choice("mem_type", doc="Only memories of this type.", choices=MEM_TYPES),
    _choice("mem_state", doc="Only memories in this state.", choices=MEM_STATES),
    _list("thread_id", "text", "Only notes of this thread."),
    _choice("band", doc="Only notes of this heat.", choices=BANDS),
)

# Of an overview, which a recall without a query is.
ENTITIES: tuple[Parameter, ...] = (
    Parameter(
        "kind", "choice", "Of an overview: only entities of this kind.", choices=(*KINDS, "other")
    ),
    Parameter(
        "min_memories",
        "whole",
        "Of an overview: only entities that at least so many notes are about.",
        least=1,
        most=1_000_000,
    ),
)

RECALL: tuple[Parameter, ...] = (
    Parameter(
        "query",
        "text",
        "What to look for, in your own words; operators such as tag: or folder: are filters.",
        aliases=("q",),
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
        "How hits are found: by meaning, by words, or by both.",
        "semantic",
        choices=("semantic", "lexical", "hybrid"),
    ),
    Parameter(
        "rank",
        "choice",
        "How hits are ordered: by how well they fit, or by what matters now.",
        "relevance",
        choices=("relevance", "composite"),
    ),
    Parameter(
        "match_syntax",
        "choice",
        "How the words are read: as free text, or as a MATCH expression of SQLite's FTS5.",
        "free",
        choices=("free", "fts5"),
    ),
    Parameter(
        "path",
        "path",
        "Instead of a search: the history of the notes whose path holds this.",
        pattern=IN_VAULT,
    ),
    Parameter("mark_accessed", "flag", "Record that the hits were read.", default=True),
    Parameter("explain", "flag", "Say why each hit was found, and how it is ranked.", False),
    Parameter("passages", "flag", "Show the best passage of each hit, and its matches.", False),
    *MEMORY_FILTERS,
    *ENTITIES,
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
    *FILTERS,
    EXCERPT_CHARS,
    *MEMORY_FILTERS,
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
