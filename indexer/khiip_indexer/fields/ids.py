"""Ids for notes that do not name one."""

from __future__ import annotations

import hashlib
import unicodedata

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def derived_id(path: str, salt: int = 0) -> str:
    """Return a ULID-shaped id that follows from the vault-relative path alone.

    `salt` above 0 gives further ids, for a path whose first one is taken.
    """
    name = unicodedata.normalize("NFC", path) + (f"\0{salt}" if salt else "")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    value = int.from_bytes(digest[:16])
    return "".join(_CROCKFORD[value >> shift & 31] for shift in range(125, -1, -5))
