"""What the files in `.khiip` are made by: raise a number, and the next run makes them anew.

Here and not where each is used, so that a look that imports nothing else can tell an index of
another program from its own.
"""

from __future__ import annotations

# The tables of the cache.
SCHEMA_VERSION = 4
# How long texts are cut into passages.
CHUNKER_VERSION = "2"
# How text is folded for search by words.
TEXTS_VERSION = "1"
# Parser and payloads: every note is read again, and only texts that really changed are embedded.
PROJECTION_VERSION = f"4.{CHUNKER_VERSION}.{TEXTS_VERSION}"

INDEX_FORMAT = f"{SCHEMA_VERSION}/{PROJECTION_VERSION}"
