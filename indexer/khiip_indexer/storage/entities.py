"""Who is named where: entities, the notes about them, and how they are spelled."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from khiip_indexer.fields.entity_names import entity_key
from khiip_indexer.fields.mentions import note_name
from khiip_indexer.records import Filters
from khiip_indexer.storage.conditions import where
from khiip_indexer.storage.pieces import in_pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Numbers = NDArray[np.float64]


def _seconds(column: str) -> str:
    return f"COALESCE(CAST(strftime('%s', {column}) AS INTEGER), 0)"


# After a copy or a checkout every file was "just modified". Git's date or the note's own is the
# better one, and so is the note's own date of being made: of a note that has one, the file's time
# tells nothing. The journal has the edits that were seen.
_BY_FILE_TIME = (
    "c.recorded_at_from IN ('frontmatter', 'body', 'name') "
    f"AND c.mtime_ns / 1000000000 = {_seconds('c.modified_at')} "
    "AND (c.mtime_ns % 1000000000 >= 1000) = (instr(c.modified_at, '.') > 0)"
)
_EDITED = (
    f"MAX(CASE WHEN {_BY_FILE_TIME} THEN 0 ELSE {_seconds('c.modified_at')} END, COALESCE(("  # noqa: S608
    "SELECT MAX(at) FROM journal WHERE path = c.path AND operation = 'modified'), 0))"
)


@dataclass(frozen=True, slots=True, eq=False)
class EntityFacts:
    """The notes that filters let in, and which of them name which entities. Columns, no records.

    Of notes, by rising `rows`: `paths`, `ids`, `layers`, `importance` as written (NaN: not),
    `pinned`, `recorded` and `edited` (seconds since 1970; 0: no edit is known), `made` (as
    `recorded`, infinite where nothing but the file's own time tells it: that of a checkout would
    make every note new), `backlinks` (how many others of these notes name this one).
    Of entities: `keys`, rising, of those that any of the notes names. Of mentions, by rising
    `entity`: `entity` and `note` are positions in `keys` and `rows`.
    """

    rows: Whole
    paths: tuple[str, ...]
    ids: tuple[str, ...]
    layers: tuple[str | None, ...]
    importance: Numbers
    pinned: NDArray[np.bool_]
    recorded: Numbers
    edited: Numbers
    made: Numbers
    backlinks: Whole
    keys: tuple[str, ...]
    entity: Whole
    note: Whole


class EntityReader:
    """Reads entities over one connection; nothing is kept."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def mark(self) -> tuple[object, ...]:
        """Another one as soon as notes have been added, edited or taken away; cheap.

        A generation ends with its last vector, which may be long after its notes can be read.
        """
        sql = "SELECT (SELECT MAX(row) FROM captures), (SELECT MAX(edit) FROM journal)"
        return tuple(self._connection.execute(sql).fetchone())

    def facts(self, filters: Filters) -> EntityFacts:
        """Everything that overviews and momentum are counted from, in three passes."""
        import numpy as np

        condition, values = where(filters)
        found = self._connection.execute(
            "SELECT c.row, c.path, c.id, c.layer, c.importance, c.pinned, "  # noqa: S608
            f"{_seconds('c.recorded_at')}, {_EDITED}, "
            "CASE WHEN c.recorded_at_from = 'mtime' THEN 9e999 "
            f"ELSE {_seconds('c.recorded_at')} END "
            f"FROM captures c WHERE {condition} ORDER BY c.row",
            values,
        ).fetchall()
        columns = list(zip(*found, strict=True)) or [()] * 9
        rows = np.array(columns[0], np.int64)
        keys, entity, note = self._mentions(rows)
        return EntityFacts(
            rows=rows,
            paths=columns[1],
            ids=columns[2],
            layers=columns[3],
            importance=np.array(columns[4], np.float64),
            pinned=np.array(columns[5], np.bool_),
            recorded=np.array(columns[6], np.float64),
            edited=np.array(columns[7], np.float64),
            made=np.array(columns[8], np.float64),
            backlinks=_backlinks(len(rows), entity, note, self._names(rows, keys)),
            keys=keys,
            entity=entity,
            note=note,
        )

    def _mentions(self, rows: Whole) -> tuple[tuple[str, ...], Whole, Whole]:
        import numpy as np

        # Grouped by SQLite: half a million small rows would cost more than everything else.
        found = self._connection.execute(
            "SELECT value, COUNT(*), group_concat(row) FROM facets WHERE kind = 'entity' "
            "GROUP BY value ORDER BY value"
        ).fetchall()
        counts = np.array([count for _, count, _ in found], np.int64)
        text = ",".join(group for _, _, group in found)
        named = np.fromstring(text, np.int64, sep=",")
        known, note = _positions(rows, named)
        entity = np.repeat(np.arange(len(found)), counts)[known]
        starts = np.diff(entity, prepend=-1) != 0
        keys = tuple(found[each][0] for each in entity[starts])
        return keys, np.cumsum(starts) - 1, note

    def _names(self, rows: Whole, keys: Sequence[str]) -> tuple[Whole, Whole]:
        """(entity, note) for every note that is called as an entity is."""
        import numpy as np

        positions = {key: number for number, key in enumerate(keys)}
        pairs = [
            (positions[name], row)
            for name, row in self._connection.execute(
                "SELECT value, row FROM facets WHERE kind = 'name'"
            )
            if name in positions
        ]
        columns = np.array(pairs, np.int64).reshape(len(pairs), 2)
        known, note = _positions(rows, columns[:, 1])
        return columns[known, 0], note

    def kinds(self, filters: Filters) -> dict[str, str]:
        """The kind of each entity (by key) whose own note says one of the kinds.

        Of several such notes the one counts whose title or file name is the entity's, then the
        first by path.
        """
        condition, values = where(filters)
        found = self._connection.execute(
            "SELECT n.value, k.value, c.title, c.path FROM facets k "  # noqa: S608
            "CROSS JOIN facets n ON n.row = k.row AND n.kind = 'name' "
            f"CROSS JOIN captures c ON c.row = k.row WHERE k.kind = 'kind' AND {condition} "
            "ORDER BY c.path",
            values,
        )
        chosen: dict[str, tuple[bool, str]] = {}
        for key, kind, title, path in found:
            own = _shown(key, title, path) is not None
            if key not in chosen or (own and not chosen[key][0]):
                chosen[key] = (own, kind)
        return {key: kind for key, (_, kind) in chosen.items()}

    def spellings(self, keys: Sequence[str], filters: Filters) -> dict[str, str]:
        """How each of these entities is shown; whatever is shown has the entity's key.

        The title of its own note (the first by path), or that note's file name, where that is a
        spelling of it; else what notes write most often.
        """
        names = self._titles(keys, filters)
        for key in keys:
            if key not in names:
                names[key] = self._most_common(key, filters)
        return names

    def _titles(self, keys: Sequence[str], filters: Filters) -> dict[str, str]:
        condition, values = where(filters)
        sql = (
            "SELECT n.value, c.title, c.path FROM facets n "  # noqa: S608
            "CROSS JOIN captures c ON c.row = n.row "
            f"WHERE n.kind = 'name' AND n.value IN (:among) AND {condition} ORDER BY c.path"
        )
        found = in_pieces(self._connection, sql, keys, after=values)
        names: dict[str, str] = {}
        for key, title, path in found:
            if key not in names and (shown := _shown(key, title, path)) is not None:
                names[key] = shown
        return names

    def _most_common(self, key: str, filters: Filters) -> str:
        condition, values = where(filters)
        lists = self._connection.execute(
            "SELECT c.entities FROM facets f CROSS JOIN captures c ON c.row = f.row "  # noqa: S608
            f"WHERE f.kind = 'entity' AND f.value = ? AND {condition}",
            (key, *values),
        )
        counts: dict[str, int] = {}
        for name in _names_in(lists):
            if entity_key(name) == key:
                last = note_name(name)
                shown = last if entity_key(last) == key else name
                counts[shown] = counts.get(shown, 0) + 1
        return min(counts, key=lambda name: (-counts[name], name), default=key)

    def edited(self, rows: Sequence[int]) -> dict[int, int]:
        """When each of these notes was edited last, in seconds since 1970; 0: that is not known.

        A file's own time counts only for a note without any other date.
        """
        sql = f"SELECT c.row, {_EDITED} FROM captures c WHERE c.row IN (:among)"  # noqa: S608
        return dict(in_pieces(self._connection, sql, rows))

    def backlinks(self, rows: Sequence[int]) -> dict[int, int]:
        """How many other current notes name each of these notes; those that none names are left.

        A note is named by its file name, its title or an alias, in any spelling.
        """
        sql = (
            "SELECT n.row, COUNT(DISTINCT e.row) FROM facets n "
            "CROSS JOIN facets e ON e.kind = 'entity' AND e.value = n.value "
            "AND e.row <> n.row CROSS JOIN captures c ON c.row = e.row "
            "WHERE n.row IN (:among) AND n.kind = 'name' "
            "AND c.is_head = 1 AND c.archived = 0 GROUP BY n.row"
        )
        return dict(in_pieces(self._connection, sql, rows))


def _shown(key: str, title: str, path: str) -> str | None:
    """What of an own note's title and file name is a spelling of the entity."""
    return next((each for each in (title, note_name(path)) if entity_key(each) == key), None)


def _names_in(lists: Iterable[tuple[str]]) -> Iterator[str]:
    for (names,) in lists:
        yield from json.loads(names)


def _positions(rows: Whole, wanted: Whole) -> tuple[NDArray[np.bool_], Whole]:
    """Which of the wanted rows are among `rows` (rising), and where those stand."""
    import numpy as np

    if len(rows) == 0:
        return np.zeros(len(wanted), np.bool_), np.zeros(0, np.int64)
    places = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    known = rows[places] == wanted
    return known, places[known].astype(np.int64)


def _backlinks(notes: int, entity: Whole, note: Whole, names: tuple[Whole, Whole]) -> Whole:
    """For each note, by how many others it is named: its names against all mentions."""
    import numpy as np

    called, owner = names
    first = np.searchsorted(entity, called, "left")
    counts = np.searchsorted(entity, called, "right") - first
    named = np.repeat(owner, counts)
    # The mentions of each name lie side by side: from its first one, count up.
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    by = note[np.repeat(first, counts) + offsets]
    pairs = np.sort(named[named != by] * notes + by[named != by])
    once = pairs[np.diff(pairs, prepend=-1) != 0]  # a note may be named by two of its names
    return np.bincount(once // max(notes, 1), minlength=notes).astype(np.int64)
