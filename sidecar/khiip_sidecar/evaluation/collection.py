"""A test collection on disk: questions, and which notes answer them how well."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from khiip_indexer.errors import UsageError
from khiip_sidecar.evaluation.measures import Grades

QUERIES_FILE = "queries.jsonl"
QRELS_FILE = "qrels.tsv"
VAULT_FOLDER = "vault"
HINT = (
    f'A collection is a folder with {QUERIES_FILE} (a line each: {{"id": "q1", "text": "…"}}) '
    f"and {QRELS_FILE} (query id, note id, grade; tabs between)."
)
_GRADE = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Query:
    """One question and the grades of the notes that were judged for it, by the notes' ids."""

    id: str
    text: str
    grades: Grades


@dataclass(frozen=True, slots=True)
class Collection:
    """Questions that can be measured, in the file's order, and what had to be left out.

    `unjudged` counts questions without any relevant note, `strangers` are query ids that were
    judged and never asked.
    """

    queries: tuple[Query, ...]
    unjudged: int
    strangers: tuple[str, ...]

    @property
    def relevant(self) -> list[str]:
        """Ids of all notes that answer a question, each once."""
        judged = (query.grades.items() for query in self.queries)
        return list(dict.fromkeys(note for each in judged for note, grade in each if grade > 0))


def read_collection(folder: Path) -> Collection:
    """Read a collection's two files.

    Raises UsageError (code `bad_collection`) that names the file and the line.
    """
    texts = _read_queries(folder / QUERIES_FILE)
    judged = _read_qrels(folder / QRELS_FILE)
    queries = tuple(
        Query(name, text, judged[name])
        for name, text in texts.items()
        if any(grade > 0 for grade in judged.get(name, {}).values())
    )
    if not queries:
        raise _bad(f"{folder}: no query has a relevant note.")
    strangers = tuple(name for name in judged if name not in texts)
    return Collection(queries, len(texts) - len(queries), strangers)


def _read_queries(path: Path) -> dict[str, str]:
    texts: dict[str, str] = {}
    for where, line in _lines(path):
        name, text = _query(line, where)
        if name in texts:
            raise _bad(f"{where}: the query id {name} stands here a second time.")
        texts[name] = text
    return texts


def _query(line: str, where: str) -> tuple[str, str]:
    try:
        said = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _bad(f"{where}: this is no JSON.") from error
    name = said.get("id") if isinstance(said, dict) else None
    text = said.get("text") if isinstance(said, dict) else None
    if not (isinstance(name, str) and name.strip() and isinstance(text, str) and text.strip()):
        raise _bad(f"{where}: a query needs `id` and `text`, both texts that are not empty.")
    return name.strip(), text


def _read_qrels(path: Path) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for where, line in _lines(path):
        query, note, grade = _judgement(line, where)
        grades = judged.setdefault(query, {})
        if grades.setdefault(note, grade) != grade:
            raise _bad(f"{where}: {note} has two grades for the query {query}.")
    return judged


def _judgement(line: str, where: str) -> tuple[str, str, int]:
    parts = [part.strip() for part in line.split("\t")]
    if len(parts) != 3 or not all(parts):
        raise _bad(f"{where}: a line has three parts with tabs between: query, note, grade.")
    query, note, grade = parts
    if not _GRADE.fullmatch(grade):
        raise _bad(f"{where}: the grade must be a whole number, not {grade}.")
    return query, note, int(grade)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """`FILE:LINE` and the line, for each that is not blank."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise _bad(f"There is no {path}.") from error
    except OSError as error:
        raise _bad(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise _bad(f"{path} is no UTF-8.") from error
    # Not `splitlines`: JSON texts may hold U+2028 and its like, which end no line of a file.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{path}:{number}", line


def _bad(sentence: str) -> UsageError:
    return UsageError(sentence, hint=HINT, code="bad_collection")
