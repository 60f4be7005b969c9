"""What an argument may be completed to: entities, tags, folders and ids of the vault."""

from __future__ import annotations

from collections.abc import Iterable

from khiip_sidecar.client import Backend

MOST = 100  # as many as the protocol allows
LOOKED_AT = 1000
TAGS_OF = 100
ENTITIES = 200


def complete(backend: Backend, argument: str, value: str) -> tuple[list[str], int]:
    """(values that begin with, then those that hold what was typed; how many there are)."""
    finder = {
        "entity": _entities,
        "topic": _entities,
        "tag": _tags,
        "folder": _folders,
        "id": _ids,
    }.get(argument)
    found = ranked(finder(backend), value) if finder else []
    return found[:MOST], len(found)


def ranked(names: Iterable[str], value: str) -> list[str]:
    """Names that hold what was typed, those that begin with it first, else in their order."""
    typed = value.strip().lstrip("#").casefold()
    known = [name for name in dict.fromkeys(names) if typed in name.casefold()]
    return sorted(known, key=lambda name: not name.casefold().startswith(typed))


def _entities(backend: Backend) -> list[str]:
    answer = backend.recall({"limit": [str(ENTITIES)]})
    return [each["name"] for each in answer["entities"]]


def _tags(backend: Backend) -> list[str]:
    """Of the newest captures: rows have no tags, so that full ones are read."""
    full = backend.captures({"view": ["full"], "limit": [str(TAGS_OF)]})
    return [tag for each in full for tag in each["user_tags"]]


def _folders(backend: Backend) -> list[str]:
    rows = backend.captures({"view": ["lean"], "limit": [str(LOOKED_AT)], "excerpt_chars": ["0"]})
    return sorted({folder for row in rows for folder in _above(row["vault_path"])})


def _above(path: str) -> list[str]:
    steps = path.split("/")[:-1]
    return ["/".join(steps[:count]) for count in range(1, len(steps) + 1)]


def _ids(backend: Backend) -> list[str]:
    rows = backend.captures({"view": ["lean"], "limit": [str(LOOKED_AT)], "excerpt_chars": ["0"]})
    return [row["id"] for row in rows]
