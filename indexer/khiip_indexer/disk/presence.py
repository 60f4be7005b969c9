"""Whether the vault's own folder is there: a drive may be taken away while it is served."""

from __future__ import annotations

from pathlib import Path

from khiip_indexer.errors import VaultError
from khiip_indexer.storage.identity import identity, is_still


class Presence:
    """Knows the folder that it was made for; the place of a drive that is gone may still be one:
    another folder, and an empty one.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known = identity(root)

    def __call__(self) -> bool:
        """Whether it is there now; one look, where nothing has changed."""
        if is_still(self._root, self._known):
            return True
        try:
            if next(self._root.iterdir(), None) is None:
                return False
            self._known = identity(self._root)
        except OSError:
            return False
        return True


def not_there(root: Path) -> VaultError:
    """What is said while it is not: nothing could be looked up, and nothing is lost."""
    return VaultError(
        f"The vault {root} is not there, so that nothing could be looked up.",
        hint="Connect its drive, or move the folder back; what is served then goes on.",
        code="vault_unavailable",
    )
