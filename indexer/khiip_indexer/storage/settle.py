"""Ids and supersession chains settled across notes, inside the transaction that changed them."""

from __future__ import annotations

import json
import posixpath
import sqlite3
from collections.abc import Iterable

from khiip_indexer.fields.ids import derived_id
from khiip_indexer.storage.chains import Claim, owner, settle_chains
from khiip_indexer.storage.id_changes import log_id_changes
from khiip_indexer.store import put_problems, replace_problems
from khiip_indexer.types import Problem


def settle_ids(connection: sqlite3.Connection, wanted: Iterable[str]) -> None:
    """Give each of these ids to one note; every other claimant gets an id from its path."""
    for identity in set(wanted):
        claims = _claims(connection, identity)
        if not claims:
            continue
        winner, before = owner(claims), _ids(connection, claims)
        _assign(connection, winner, identity, None)
        for loser in claims:
            if loser is not winner:
                _assign(connection, loser, _free_id(connection, loser.path), winner.path)
        _log_changes(connection, before, _ids(connection, claims))


def _ids(connection: sqlite3.Connection, claims: Iterable[Claim]) -> dict[str, str]:
    sql = "SELECT id FROM captures WHERE path = ?"
    return {c.path: connection.execute(sql, (c.path,)).fetchone()[0] for c in claims}


def _log_changes(
    connection: sqlite3.Connection, before: dict[str, str], after: dict[str, str]
) -> None:
    """Write down which captures changed their ids, for what is kept by id outside the cache.

    A new note that only lays claim to an id never had it: its true owner had, and still has.
    """
    if before == after:
        return
    kept = {identity for path, identity in before.items() if after[path] == identity}
    changes = [
        (old, after[path]) for path, old in before.items() if after[path] != old and old not in kept
    ]
    log_id_changes(connection, changes)


def _claims(connection: sqlite3.Connection, identity: str) -> list[Claim]:
    rows = connection.execute(
        "SELECT path, declared_id IS NOT NULL, recorded_at FROM captures WHERE declared_id = ? "
        "UNION SELECT path, 0, recorded_at FROM captures "
        "WHERE derived_id = ? AND declared_id IS NULL",
        (identity, identity),
    )
    return [Claim(path, bool(declared), recorded_at) for path, declared, recorded_at in rows]


def _assign(
    connection: sqlite3.Connection, claim: Claim, identity: str, kept_by: str | None
) -> None:
    connection.execute(
        "UPDATE captures SET id = ?, head_id = ? WHERE path = ? AND id <> ?",
        (identity, identity, claim.path, identity),
    )
    problems = [_duplicate(claim, kept_by)] if kept_by and claim.declared else []
    put_problems(connection, claim.path, "ids", problems)


def _duplicate(claim: Claim, kept_by: str) -> Problem:
    return Problem(
        path=claim.path,
        code="duplicate_id",
        reason=f"the id in this note belongs to {kept_by}, which was recorded first",
        hint="Give one of the two notes another id.",
    )


def _free_id(connection: sqlite3.Connection, path: str) -> str:
    salt = 0
    while True:
        candidate: str = derived_id(path, salt)
        taken = connection.execute(
            "SELECT 1 FROM captures WHERE (id = ? OR declared_id = ?) AND path <> ?",
            (candidate, candidate, path),
        ).fetchone()
        if taken is None:
            return candidate
        salt += 1


def settle_heads(connection: sqlite3.Connection) -> None:
    """Find the current version of every chain anew; only notes with pointers cost anything."""
    successors, own = _successors(connection)
    ages = _ages(connection, successors)
    chains = settle_chains(successors, ages)
    _reset(connection)
    connection.executemany(
        "UPDATE captures SET head_id = ?, is_head = (id = ?), next_id = ? WHERE id = ?",
        [(head, head, successors.get(member), member) for member, head in chains.heads.items()],
    )
    rings = [
        *(_ring(path, _RING) for path in _paths(connection, chains.circular)),
        *(_ring(path, _OWN) for path in _paths(connection, own - chains.circular)),
    ]
    replace_problems(connection, "chains", rings)


def _successors(connection: sqlite3.Connection) -> tuple[dict[str, str], set[str]]:
    """What replaces what, and the notes that name themselves, which replaces nothing."""
    rows = connection.execute(
        "SELECT id, folder, superseded_by, supersedes FROM captures "
        "WHERE superseded_by IS NOT NULL OR supersedes <> '[]' ORDER BY recorded_at, path"
    ).fetchall()
    successors: dict[str, str] = {}
    own: set[str] = set()
    for newer, folder, _, supersedes in rows:
        for pointer in json.loads(supersedes):
            older = _resolve(connection, pointer, folder)
            if older == newer:
                own.add(newer)
            elif older is not None:
                successors[older] = newer  # the newest note that names it wins
    for older, folder, superseded_by, _ in rows:
        target = _resolve(connection, superseded_by, folder) if superseded_by else None
        if target == older:
            own.add(older)
        elif target is not None:
            successors[older] = target  # what a note says of itself wins over what others say
    return successors, own


def _resolve(connection: sqlite3.Connection, pointer: str, folder: str) -> str | None:
    """The id of the note that a pointer means: an id, a path, or a link as Obsidian reads it."""
    target = pointer.strip()
    found = connection.execute(
        "SELECT id FROM captures WHERE id = ? OR declared_id = ? ORDER BY id = ? DESC",
        (target, target, target),
    ).fetchone()
    return str(found[0]) if found else _by_path(connection, target, folder)


def _by_path(connection: sqlite3.Connection, target: str, folder: str) -> str | None:
    plain = target.partition("#")[0].strip().removesuffix(".md").lstrip("/")
    beside = posixpath.normpath(f"{folder}{plain}") if plain else ""
    name = plain.rpartition("/")[2].casefold()
    rows = connection.execute("SELECT path, id FROM captures WHERE name = ?", (name,)).fetchall()
    stems = [(path.rpartition(".")[0], identity) for path, identity in rows]
    for wanted in (plain, beside):
        for stem, identity in stems:
            if stem == wanted:
                return str(identity)
    ends = [pair for pair in stems if "/" not in plain or pair[0].endswith(f"/{plain}")]
    nearest = min(ends, key=lambda pair: (len(pair[0]), pair[0]), default=None)
    return str(nearest[1]) if nearest else None


def _ages(connection: sqlite3.Connection, successors: dict[str, str]) -> dict[str, tuple[str, str]]:
    ages: dict[str, tuple[str, str]] = {}
    for member in {*successors, *successors.values()}:
        row = connection.execute(
            "SELECT recorded_at, path FROM captures WHERE id = ?", (member,)
        ).fetchone()
        ages[member] = (row[0], row[1])
    return ages


def _reset(connection: sqlite3.Connection) -> None:
    connection.execute(
        "UPDATE captures SET head_id = id, is_head = 1, next_id = NULL "
        "WHERE is_head = 0 OR next_id IS NOT NULL"
    )


def _paths(connection: sqlite3.Connection, ids: Iterable[str]) -> list[str]:
    sql = "SELECT path FROM captures WHERE id = ?"
    return sorted(connection.execute(sql, (each,)).fetchone()[0] for each in ids)


_RING = (
    "this note and its successors replace each other in a ring",
    "Remove one superseded_by or supersedes; until then the newest note is shown.",
)
_OWN = (
    "this note says that it replaces itself",
    "Correct its superseded_by or supersedes; name a note that is called the same by its path.",
)


def _ring(path: str, told: tuple[str, str]) -> Problem:
    return Problem(path=path, code="circular_supersession", reason=told[0], hint=told[1])
