"""Which capture an agent means: by its id, or by the path that rows show."""

from __future__ import annotations

from khiip_indexer.errors import KhiipError
from khiip_sidecar.client import Backend
from khiip_sidecar.wire.encode import Json
from khiip_sidecar.wire.parse import escaped

PAGE = 1000


def capture_named(backend: Backend, name: str) -> Json:
    """The full capture with this id, else of the note at this path; raises NotFound."""
    try:
        capture: Json = backend.capture(name)
    except KhiipError as error:
        found = _id_at(backend, name) if error.code == "not_found" else None
        if found is None:
            raise
        capture = backend.capture(found)
    return capture


def _id_at(backend: Backend, name: str) -> str | None:
    path = name.removeprefix("./")
    if not path.lower().endswith(".md"):
        return None
    asked = {"view": ["lean"], "excerpt_chars": ["0"], "limit": [str(PAGE)]}
    asked |= {"in_path": [escaped(path)], "include_archived": ["true"]}
    offset = 0
    while rows := backend.captures({**asked, "offset": [str(offset)]}):
        found = next((str(row["id"]) for row in rows if row["vault_path"] == path), None)
        if found is not None or len(rows) < PAGE:
            return found
        offset += PAGE
    return None
