"""The folders that a client says it works in; pure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname


def paths_of(uris: Iterable[str]) -> list[Path]:
    """Local folders of `file://` addresses; others, and hosts elsewhere, are passed over."""
    found = []
    for uri in uris:
        parts = urlsplit(uri)
        if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path:
            found.append(Path(url2pathname(parts.path)))
    return found
