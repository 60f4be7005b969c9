"""What a person settled about embedders by a command: kept in their own config folder.

It is not in the vault on purpose: a vault that comes from elsewhere must not be able to agree to
its own notes being sent away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from khiip_indexer.embedding.choice import EmbedderChoice, as_json, from_json
from khiip_indexer.errors import UsageError

FILE = "embedders.json"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered of one vault.

    Which embedder it uses (None: what the config says), where its texts may go, the weak floor of
    each model, and how the models that made its vectors were described.
    """

    use: str | None = None
    agreed: frozenset[str] = frozenset()
    floors: Mapping[str, float] = field(default_factory=dict)
    known: Mapping[str, EmbedderChoice] = field(default_factory=dict)

    def knowing(self, key: str, choice: EmbedderChoice) -> Remembered:
        """Also knowing who makes vectors under this key."""
        return replace(self, known={**self.known, key: choice})


def load(config: Path, vault: Path) -> Remembered:
    """What is remembered of a vault; UsageError for a file that cannot be read."""
    return _of(_read(config / FILE), vault, config / FILE)


def _of(every: Mapping[str, dict[str, Any]], vault: Path, path: Path) -> Remembered:
    said = every.get(str(vault), {})
    try:
        return Remembered(
            use=said.get("use"),
            agreed=frozenset(map(str, said.get("agreed", []))),
            floors={str(k): float(v) for k, v in said.get("floors", {}).items()},
            known={str(k): from_json(v) for k, v in said.get("known", {}).items()},
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise _unreadable(path, "not what khiipd wrote") from error


def change(config: Path, vault: Path, to: Callable[[Remembered], Remembered]) -> Remembered:
    """Remember something else of a vault, of other vaults nothing changes; gives what it is now.

    A sidecar and a command may do so at the same moment: neither forgets what the other said.
    """
    from khiip_indexer.lock import exclusive
    from khiip_indexer.storage.atomic import write_file

    config.mkdir(parents=True, exist_ok=True)
    path = config / FILE
    with exclusive(config / f".{FILE}.lock"):
        every = _read(path)
        before = _of(every, vault, path)
        after = to(before)
        if after != before:
            every[str(vault)] = _as_json(after)
            write_file(path, json.dumps(every, ensure_ascii=False, indent=1).encode() + b"\n")
    return after


def _as_json(what: Remembered) -> dict[str, Any]:
    return {
        "use": what.use,
        "agreed": sorted(what.agreed),
        "floors": dict(what.floors),
        "known": {key: as_json(choice) for key, choice in what.known.items()},
    }


def stamp(config: Path) -> tuple[int, int] | None:
    """Changes whenever the file does."""
    try:
        status = os.stat(config / FILE)  # noqa: PTH116 -- asked for with every search
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


class Floors:
    """The weak floors of one vault, read again when somebody calibrated."""

    def __init__(self, config: Path, vault: Path) -> None:
        self._config, self._vault = config, vault
        self._known: tuple[tuple[int, int] | None, Mapping[str, float]] = (None, {})

    def of(self, key: str) -> float | None:
        """The floor of the model with this key, if one was kept."""
        now = stamp(self._config)
        if now != self._known[0]:
            self._known = (now, load(self._config, self._vault).floors)
        return self._known[1].get(key)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unreadable(path, str(error)) from error
    if not isinstance(found, dict):
        raise _unreadable(path, "not what khiipd wrote")
    return found


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError(
        f"The file {path} cannot be read: {why}.",
        hint="Move it away, and say again what you use: khiipd embedder use NAME.",
        code="bad_config",
    )
