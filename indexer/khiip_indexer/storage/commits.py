"""What git did to the vault's notes, commit by commit."""

from __future__ import annotations

TABLES = ""
