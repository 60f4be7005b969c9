"""The one place that builds MATCH strings. Whatever a person typed is quoted, never syntax."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from khiip_indexer.errors import UsageError
from khiip_indexer.lexical.fold import fold
from khiip_indexer.lexical.scripts import bigrams, cut, has_unspaced
from khiip_indexer.lexical.terms import Term

COLUMNS = ("title", "headings", "tags", "author", "body")
GRAM = 3
_MOST_GRAMS = 12
_PARTS = re.compile(r'"(?:[^"]|"")*"|[^"\s()]+|[\s()]+|"')

Condition = tuple[str, list[object]]


def word_match(term: Term) -> str:
    """What finds a term among the words; "" for one that is only found as it stands."""
    if term.kind == "literal":
        return ""
    if term.kind != "run":
        return _quoted(term.text)
    if len(term.text) == 1:
        return f"{_quoted(term.text)}*"  # every character begins one pair of a run
    return _quoted(" ".join(bigrams(term.text)[:-1]))


def gram_match(text: str) -> str | None:
    """What every text that holds this one has; None below three characters.

    More is let through than that: whoever asks must look the text up in what was found.
    """
    grams = list(dict.fromkeys(text[at : at + GRAM] for at in range(len(text) - GRAM + 1)))
    if len(grams) > _MOST_GRAMS:
        step = len(grams) / _MOST_GRAMS
        grams = [grams[int(at * step)] for at in range(_MOST_GRAMS)]
    return " AND ".join(_quoted(gram) for gram in grams) or None


def all_of(matches: Iterable[str]) -> str:
    """What finds the notes that hold every one of these."""
    return " AND ".join(f"({each})" for each in matches)


def holds(text: str) -> Condition:
    """The condition on `texts t` that one of its columns has this folded text in it."""
    return "(" + " OR ".join(f"instr(t.{name}, ?)" for name in COLUMNS) + ")", [text] * len(COLUMNS)


def phrase_condition(phrase: str) -> Condition:
    """The condition on `captures c` that a note's text holds this phrase as it stands.

    Case, accents of Latin letters and the width of blanks do not count. A phrase of nothing is
    in every note.
    """
    text = " ".join(fold(phrase).split())
    if not text:
        return "1", []
    found, values = holds(text)
    grams = gram_match(text)
    if grams is None:
        return f"c.row IN (SELECT t.row FROM texts t WHERE {found})", values  # noqa: S608
    return (
        "c.row IN (SELECT t.row FROM grams JOIN texts t ON t.row = grams.rowid "  # noqa: S608
        f"WHERE grams MATCH ? AND {found})",
        [grams, *values],
    )


def expression(text: str) -> str:
    """A MATCH expression as a person wrote it, in the form in which words are stored."""
    text = re.sub("[\0\ud800-\udfff]", " ", text)
    return "".join(_part(each) for each in _PARTS.findall(text))


def _part(part: str) -> str:
    """Bare words keep their case: AND, OR, NOT and NEAR are syntax, and tokens are folded later."""
    if part.startswith('"') and len(part) > 1:
        return f'"{_stored(fold(part[1:-1]))}"'
    if part.isascii():
        return part if part in ("AND", "OR", "NOT") or part.startswith("NEAR") else fold(part)
    name, colon, word = (
        part.rpartition(":") if part.partition(":")[0] in COLUMNS else ("", "", part)
    )
    star = "*" if word.endswith("*") else ""
    return f"{name}{colon}{_quoted(_stored(fold(word.rstrip('*'))))}{star}"


def _stored(text: str) -> str:
    if not has_unspaced(text):
        return text
    # The last character of a run stands alone only at the end of the text's own run.
    return " ".join(piece for piece in cut(text).split() if len(piece) > 1 or piece == text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def check_fts5(connection: sqlite3.Connection, text: str) -> str:
    """The expression to run; UsageError `bad_match_expression` when SQLite cannot read it."""
    asked = expression(text)
    if not asked.strip():
        raise UsageError("The query is empty.", hint="Give some words.", code="empty_query")
    try:
        connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? LIMIT 1", (asked,)
        ).fetchone()
    except sqlite3.OperationalError as error:
        if not _is_about_the_expression(error):
            raise
        raise _bad(error) from error
    return asked


def _is_about_the_expression(error: sqlite3.OperationalError) -> bool:
    told = str(error)
    return told.startswith(
        ("fts5:", "no such column", "unknown special query", "unterminated")
    ) or ("syntax error" in told or "malformed MATCH" in told)


def _bad(error: sqlite3.OperationalError) -> UsageError:
    told = str(error).removeprefix("fts5: ")
    told = told.replace("no such column: ", "there is no column named ")
    return UsageError(
        f"This is no FTS5 MATCH expression: {told}.",
        hint=f"Quote words that are not syntax; columns are {', '.join(COLUMNS)}. "
        "Leave match_syntax out to search for the text as it is.",
        code="bad_match_expression",
    )
