"""Says that the index does not match the notes any more, and by how much."""

from __future__ import annotations

from khiip_indexer.config import Settings
from khiip_indexer.errors import KhiipError
from khiip_sidecar.cli.output import counted, say


def say_behind(settings: Settings) -> None:
    """`index is behind: 1 note changed; run khiipd reindex`, on stderr."""
    number = _notes_behind(settings)
    changed = "some notes" if number is None else counted(number, "note")
    say(f"index is behind: {changed} changed; run khiipd reindex")


def _notes_behind(settings: Settings) -> int | None:
    """How many notes differ; None when that cannot be found out, which must not fail a recall."""
    from khiip_indexer.index import VaultIndex
    from khiip_indexer.sync import check

    try:
        with VaultIndex.open(settings) as index:
            return check(index).behind or None
    except KhiipError:
        return None
