"""What a query says beside its words: `tag:#sea -folder:archive "exact words" [status:done]`; pure.

Whatever is not exactly an operator with a value that is allowed stays a part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

from khiip_indexer.errors import UsageError
from khiip_sidecar.wire.params import FILTERS, IN_VAULT, MAX_TEXT, MEMORY_FILTERS, Parameter
from khiip_sidecar.wire.parse import Given, escaped, read_value, split_sign
from khiip_sidecar.wire.times import time_bound

# Operators by the parameter that each stands for.
OPERATORS = {
    "tag": "tag",
    "path": "in_path",
    "file": "file",
    "source": "source",
    "folder": "folder",
    "author": "author",
    "since": "since",
    "until": "until",
    "entity": "entity_name",
    "layer": "layer",
    "altitude": "altitude",
    "type": "mem_type",
    "state": "mem_state",
    "thread": "thread_id",
    "band": "band",
    "phrase": "phrase",
    "property": "property",
}
_NAMES = {parameter: operator for operator, parameter in OPERATORS.items()}
_OTHER_BOUND = {"since": "until", "until": "since"}
# Of one operator; whatever comes after is text.
MOST_VALUES = 50
_LONGEST = 1_000

# Phones make the quotation marks round that were typed straight.
_QUOTED = rf'(?:"(?:[^"\\]|\\.){{0,{_LONGEST}}}"|“[^“”]{{0,{_LONGEST}}}”)'
_TERM = re.compile(
    rf"""(?<!\S)(?P<sign>-?)(?:
      (?P<phrase>{_QUOTED})(?!\w)
    | \[(?P<key>{_QUOTED}|[^\[\]":\n]{{1,{_LONGEST}}})
        (?::[ ]?(?P<property>{_QUOTED}|[^\[\]"\n]{{1,{_LONGEST}}}))?\](?!\S)
    | (?P<name>{"|".join(OPERATORS)}):(?P<value>(?:{_QUOTED}|[^\s"(][^\s"]*)(?!\S))
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
# A time may be several words: `since:3 months ago`.
_MORE_WORDS = re.compile(r" [^\s\"]+")
_ESCAPE = re.compile(r'\\(["\\])')
# Beside so many words a quotation or a word in brackets belongs to a sentence that somebody wrote
# or pasted: a condition would leave out what the sentence is about.
_SENTENCE_WORDS = 8
_ASIDE = re.compile(
    r'(?<!\S)-?(?:(?:[a-z_]{1,20}:)?(?:"[^"]{0,1000}"|“[^“”]{0,1000}”)'
    r"|\[[^\]]{0,1000}\]|[a-z_]{1,20}:\S+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
# A task, a footnote, a number in brackets: what prose has.
_NOT_A_KEY = re.compile(r"\s*(?:[xX]|[!^].*|[\d\W_]*)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Term:
    """One value that an operator gave to a parameter.

    `start` and `end` are where it stands in the query, in code points; two terms are equal
    wherever they stand.
    """

    parameter: str
    value: str
    negative: bool = False
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query taken apart: `text` is what is left of it, `words` is that with its phrases in
    place, which is what is searched for.
    """

    text: str
    words: str
    terms: tuple[Term, ...] = ()


@cache
def _parameters() -> dict[str, Parameter]:
    return {each.name: each for each in (*FILTERS, *MEMORY_FILTERS)}


def read_query(query: str, now: datetime) -> ReadQuery:
    """Take the operators out of a query; a query without any is left as it is."""
    terms: list[Term] = []
    text, words = _Rest(query), _Rest(query)
    sentence = _is_sentence(query)
    at = 0
    while match := _TERM.search(query, at):
        found = _with_room(_terms_of(match, query, now), terms)
        if sentence and match["name"] is None and found and _is_of_a_sentence(found[0]):
            found = []
        at = max([match.end(), *(term.end for term in found)])
        if found:
            terms += found
            phrase = found[0].value if _is_wanted_phrase(found[0]) else ""
            text.cut(match.start(), at)
            words.cut(match.start(), at, phrase)
        elif match["name"] is None:
            at = match.start() + 1  # a quotation that is no phrase may hold an operator
    return ReadQuery(text.joined(), words.joined(), tuple(terms))


def _is_sentence(query: str) -> bool:
    return len(_WORD.findall(_ASIDE.sub(" ", query))) > _SENTENCE_WORDS


def _is_of_a_sentence(term: Term) -> bool:
    """Whether prose may hold it too; what stands behind a `-`, or has a value, was meant."""
    if term.negative:
        return False
    return term.parameter == "phrase" or (term.parameter == "property" and ":" not in term.value)


def _is_wanted_phrase(term: Term) -> bool:
    return term.parameter == "phrase" and not term.negative


def _with_room(found: list[Term], terms: Sequence[Term]) -> list[Term]:
    if not found:
        return found
    taken = sum(term.parameter == found[0].parameter for term in terms)
    return found if taken + len(found) <= MOST_VALUES else []


class _Rest:
    """A text of which stretches are taken out: one space stands where two parts meet."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[str] = []
        self._at = 0

    def cut(self, start: int, end: int, instead: str = "") -> None:
        """Leave out a stretch, or put another text in its place."""
        self._parts += [self._text[self._at : start].strip(), instead]
        self._at = end

    def joined(self) -> str:
        """What is left; exactly the text when nothing was cut."""
        if not self._at:
            return self._text
        return " ".join(filter(None, [*self._parts, self._text[self._at :].strip()]))


def _terms_of(match: re.Match[str], query: str, now: datetime) -> list[Term]:
    """What a match means, as one term for each value; none where it is text after all."""
    if match["phrase"] is not None:
        found = _allowed([Term("phrase", _unquoted(match["phrase"]))], now)
    elif match["key"] is not None:
        found = _allowed(_property(match["key"], match["property"]), now)
    else:
        found = _valued(match, query, now)
    negative, start = match["sign"] == "-", match.start()
    return [
        replace(term, negative=term.negative != negative, start=start, end=term.end or match.end())
        for term in found
    ]


def _property(key: str, value: str | None) -> list[Term]:
    if not _is_quoted(key) and _NOT_A_KEY.fullmatch(key):
        return []
    name = _unquoted(key).strip()
    if ":" in name or not name:
        return []
    text = _unquoted(value).strip() if value is not None else ""
    return [Term("property", f"{name}:{text}" if text else name)]


def _valued(match: re.Match[str], query: str, now: datetime) -> list[Term]:
    name, written = OPERATORS[match["name"].casefold()], match["value"]
    if _parameters()[name].kind == "time":
        return _time(name, match, query, now)
    quoted = _is_quoted(written)
    value = _unquoted(written)
    parts = (
        [part.strip() for part in value.split(",")]
        if _parameters()[name].many == "commas"
        else [value]
    )
    signed = [(part, False) if quoted else split_sign(part) for part in parts]
    return _allowed([Term(name, part, negative) for part, negative in signed], now)


def _time(name: str, match: re.Match[str], query: str, now: datetime) -> list[Term]:
    """The longest time that begins here; a quoted one ends with its quotation mark."""
    ends = [match.end()]
    while not _is_quoted(match["value"]) and len(ends) < 3:  # 3 months ago
        more = _MORE_WORDS.match(query, ends[-1])
        if more is None:
            break
        ends.append(more.end())
    for end in reversed(ends):
        found = [Term(name, _unquoted(query[match.start("value") : end]), end=end)]
        if _allowed(found, now):
            return found
    return []


def _allowed(terms: list[Term], now: datetime) -> list[Term]:
    """All of the terms, or none when a value is not allowed."""
    return terms if all(_is_allowed(term, now) for term in terms) else []


def _is_allowed(term: Term, now: datetime) -> bool:
    parameter = _parameters()[term.parameter]
    try:
        read_value(parameter, term.value, now)
    except UsageError:
        return False
    return parameter.kind != "folder" or re.search(IN_VAULT, term.value) is not None


def _is_quoted(text: str) -> bool:
    return text[:1] == '"' or (text[:1] == "“" and text[-1:] == "”")


def _unquoted(text: str) -> str:
    if text[:1] == '"':
        return _ESCAPE.sub(r"\1", text[1:-1])
    return text[1:-1] if _is_quoted(text) else text


def to_text(text: str, terms: Iterable[Term]) -> str:
    """A query that `read_query` takes apart into this text and these terms.

    The terms come first: behind a text with a quotation mark that is not closed they would be
    read otherwise. Beside a sentence they bear their names.
    """
    kept = list(terms)
    plain = " ".join(filter(None, [*map(_written, kept), text]))
    if not _is_sentence(plain):
        return plain
    return " ".join(filter(None, [*map(_named, kept), text]))


def _named(term: Term) -> str:
    if _is_of_a_sentence(term):
        return f"{_NAMES[term.parameter]}:{_quote(term.value)}"
    return _written(term)


def _written(term: Term) -> str:
    sign = "-" if term.negative else ""
    if term.parameter == "phrase":
        return f"{sign}{_quote(term.value)}"
    if term.parameter == "property":
        key, colon, value = term.value.partition(":")
        name = _quote(key) if _NOT_A_KEY.fullmatch(key) else _plain_or_quoted(key)
        return f"{sign}[{name}{colon}{_plain_or_quoted(value) if value else ''}]"
    if term.parameter in _OTHER_BOUND:  # a quoted one ends with its quotation mark
        return f"{sign}{_NAMES[term.parameter]}:{_quote(term.value)}"
    return f"{sign}{_NAMES[term.parameter]}:{_plain_or_quoted(term.value)}"


def _plain_or_quoted(value: str) -> str:
    return value if re.fullmatch(r"[#\w][\w#./+]*", value) else _quote(value)


def _quote(value: str) -> str:
    escaped_value = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped_value}"'


def expand(given: Given, now: datetime) -> Given:
    """The parameters of a request with those that its query names; what is left is the query.

    A query of nothing but operators is left out. A MATCH expression is nobody's but SQLite's.
    """
    query = _one_query(given)
    if query is None or len(query) > MAX_TEXT:
        return given  # what is too long is refused, and not looked into before
    read = read_query(query, now)
    if not read.terms:
        return given
    said = {name: list(texts) for name, texts in given.items() if name not in ("query", "q")}
    if read.words:
        said["query"] = [read.words]
    for term in read.terms:
        if term.parameter not in _OTHER_BOUND:
            name = f"-{term.parameter}" if term.negative else term.parameter
            said.setdefault(name, []).append(escaped(term.value))
    return {**said, **_bounds(said, [t for t in read.terms if t.parameter in _OTHER_BOUND], now)}


def _one_query(given: Given) -> str | None:
    queries = {*given.get("query", ()), *given.get("q", ())}
    syntax = {text.strip().lower() for text in given.get("match_syntax", ())}
    return queries.pop() if len(queries) == 1 and "fts5" not in syntax else None


def _bounds(given: Mapping[str, Sequence[str]], terms: Sequence[Term], now: datetime) -> Given:
    """The narrowest of all times that were given: a time left out bounds the other side."""
    found: dict[str, list[str]] = {"since": [], "until": []}
    for term in terms:
        bound = time_bound(term.parameter, term.value, now, end=term.parameter == "until")
        found[_OTHER_BOUND[term.parameter] if term.negative else term.parameter].append(bound)
    said = {}
    for name, bounds in found.items():
        known = _known_bounds(name, given.get(name, ()), now) if bounds else ()
        if narrowed := [*bounds, *known]:
            said[name] = [max(narrowed) if name == "since" else min(narrowed)]
    return said


def _known_bounds(name: str, texts: Sequence[str], now: datetime) -> Iterator[str]:
    for text in texts:
        yield time_bound(name, text, now, end=name == "until")
