"""Which vault is meant, when the user named one and when not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from khiip_indexer.config import Overrides, Settings, load_settings
from khiip_indexer.errors import KhiipError, VaultError

NOT_NAMED = "No vault was named"


def is_named(overrides: Overrides, load: Callable[..., Settings] = load_settings) -> bool:
    """Whether the command line, the environment or the config file says which vault it is."""
    try:
        load(overrides, cwd=Path("/").absolute())
    except VaultError as error:
        return not error.sentence.startswith(NOT_NAMED)
    except KhiipError:
        return True  # whatever is wrong with what was said, it is told at the first call
    return True


def load_around(overrides: Overrides) -> Callable[[Path | None], Settings]:
    """Settings of the vault that was named, else of the one around a folder."""
    return lambda folder: load_settings(overrides, cwd=folder)
