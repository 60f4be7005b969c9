"""What filters mean in SQL: conditions on `captures c`; pure.

Rare things are found by a set of rows, which SQLite makes once a statement from an index; `source`
is compared row by row, for its sets would be as large as the vault.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from khiip_indexer.lexical.match import phrase_condition
from khiip_indexer.records import Filters
from khiip_indexer.storage.facets import (
    folded,
    folded_author,
    folded_tag,
    property_key,
    property_value,
)

Condition = tuple[str, list[object]]

_SELECT = "SELECT row FROM facets WHERE kind = ?"


def where(filters: Filters) -> Condition:
    """The condition on `captures c` that the filters mean, and its values."""
    parts: list[str] = []
    values: list[object] = []
    for kind in (_state, _times, _sources, _facets, _names, _properties, _phrases):
        for part, more in kind(filters):
            parts.append(part)
            values += more
    return " AND ".join(parts) or "1", values


def _state(filters: Filters) -> Iterator[Condition]:
    if filters.heads_only:
        yield "c.is_head = 1", []
    if not filters.include_archived:
        yield "c.archived = 0", []
    if filters.rows is not None:
        yield "c.row IN (SELECT value FROM json_each(?))", [json.dumps(filters.rows)]


def _times(filters: Filters) -> Iterator[Condition]:
    if filters.since is not None:
        yield "c.recorded_at >= ?", [filters.since]
    if filters.until is not None:
        yield "c.recorded_at < ?", [filters.until]


def _sources(filters: Filters) -> Iterator[Condition]:
    if filters.sources:
        yield f"c.source IN ({_marks(filters.sources)})", list(filters.sources)
    if filters.not_sources:
        yield f"c.source NOT IN ({_marks(filters.not_sources)})", list(filters.not_sources)


def _facets(filters: Filters) -> Iterator[Condition]:
    for kind, wanted, unwanted in (
        ("entity", filters.entities, filters.not_entities),
        ("layer", filters.layers, filters.not_layers),
        ("altitude", filters.altitudes, filters.not_altitudes),
        ("mem_type", filters.mem_types, filters.not_mem_types),
        ("mem_state", filters.mem_states, filters.not_mem_states),
        ("thread", filters.threads, filters.not_threads),
    ):
        if wanted:
            yield _in_rows(_rows(kind, wanted))
        if unwanted:
            yield _in_rows(_rows(kind, unwanted), negative=True)


def _names(filters: Filters) -> Iterator[Condition]:
    for rows, wanted, unwanted in (
        (_tagged, filters.tags, filters.not_tags),
        (_by, filters.authors, filters.not_authors),
        (_below, filters.folders, filters.not_folders),
        (_path_holds, filters.path_has, filters.not_path_has),
        (_file_holds, filters.file_has, filters.not_file_has),
    ):
        if wanted:
            yield _in_rows(rows(wanted))
        if unwanted:
            yield _in_rows(rows(unwanted), negative=True)


def _properties(filters: Filters) -> Iterator[Condition]:
    by_key: dict[str, list[tuple[str, str | None]]] = {}
    for key, value in filters.properties:
        by_key.setdefault(property_key(key), []).append((key, value))
    for wanted in by_key.values():
        yield _in_rows(_having(wanted))
    if filters.not_properties:
        yield _in_rows(_having(filters.not_properties), negative=True)


def _having(properties: Sequence[tuple[str, str | None]]) -> Condition:
    names = [property_key(key) for key, value in properties if value is None]
    values = [property_value(key, value) for key, value in properties if value is not None]
    # ">" follows "=": whatever begins with the name and "=".
    return _rows("prop", values, [(name, f"{name[:-1]}>") for name in names])


def _phrases(filters: Filters) -> Iterator[Condition]:
    for phrase in filters.phrases:
        yield phrase_condition(phrase)
    for phrase in filters.not_phrases:
        part, values = phrase_condition(phrase)
        if values:  # a phrase of nothing is in every note, and leaves none out
            yield f"NOT ({part})", values


def _in_rows(rows: Condition, *, negative: bool = False) -> Condition:
    select, values = rows
    return f"c.row {'NOT IN' if negative else 'IN'} ({select})", values


def _rows(kind: str, equal: Sequence[str], ranges: Sequence[tuple[str, str]] = ()) -> Condition:
    """Rows with one of the values, or with one in a range; of an OR SQLite would read them all."""
    selects = [f"{_SELECT} AND value >= ? AND value < ?" for _ in ranges]
    bound: list[object] = [each for low, high in ranges for each in (kind, low, high)]
    if equal or not ranges:
        selects.append(f"{_SELECT} AND value IN ({_marks(equal)})")
        bound += [kind, *equal]
    return " UNION ALL ".join(selects), bound


def _by(authors: Sequence[str]) -> Condition:
    """Rows of these authors; a name with a comma is looked for in lists of names too.

    A list is stored joined by commas, and its parts; only the whole tells a name of several parts.
    """
    names = [folded_author(author) for author in authors]
    equal, bound = _rows("author", names)
    several = [f",{','.join(parts)}," for name in names if len(parts := _parts(name)) > 1]
    if not several:
        return equal, bound
    tests = " OR ".join(["instr(',' || replace(value, ', ', ',') || ',', ?)"] * len(several))
    return f"{equal} UNION ALL {_SELECT} AND ({tests})", [*bound, "author", *several]


def _parts(name: str) -> list[str]:
    return [plain for part in name.split(",") if (plain := part.strip())]


def _tagged(tags: Sequence[str]) -> Condition:
    """A tag holds its nested tags."""
    names = [folded_tag(tag) for tag in tags]
    return _rows("tag", names, [_inside(name) for name in names])


def _below(folders: Sequence[str]) -> Condition:
    names = [folded(folder).strip("/") for folder in folders]
    if "" in names:  # the vault itself
        return _SELECT, ["path"]
    return _rows("path", (), [_inside(name) for name in names])


def _inside(name: str) -> tuple[str, str]:
    return f"{name}/", f"{name}0"  # "0" follows "/": everything below, nothing else


def _path_holds(parts: Sequence[str]) -> Condition:
    return _holding("path", parts)


def _file_holds(parts: Sequence[str]) -> Condition:
    return _holding("file", parts)


def _holding(kind: str, parts: Sequence[str]) -> Condition:
    tests = " OR ".join(["instr(value, ?)"] * len(parts))
    return f"{_SELECT} AND ({tests})", [kind, *map(folded, parts)]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
