"""What stored captures were made by."""

from __future__ import annotations

from khiip_indexer.passages import CHUNKER_VERSION

# Raise it when a change here, in the parser or in the payloads makes stored captures outdated:
# every note is then read again, and only texts that really changed are embedded again.
PROJECTION_VERSION = f"1.{CHUNKER_VERSION}"
