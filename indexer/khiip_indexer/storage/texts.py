"""The words of every capture, folded for search, and the full-text tables over them."""

from __future__ import annotations

TABLES = ""
