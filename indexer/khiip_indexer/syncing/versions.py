"""What stored captures were made by."""

from __future__ import annotations

from khiip_indexer import store
from khiip_indexer.passages import CHUNKER_VERSION
from khiip_indexer.types import ModelIdentity

# Raise it when a change here, in the parser or in the payloads makes stored captures outdated:
# every note is then read again, and only texts that really changed are embedded again.
PROJECTION_VERSION = f"3.{CHUNKER_VERSION}"


def makers(identity: ModelIdentity) -> dict[str, str]:
    """What the index must remember as its makers, by the key under which it does."""
    return {
        "model": store.identity_text(identity),
        "model_key": identity.key,
        "projection": PROJECTION_VERSION,
    }
