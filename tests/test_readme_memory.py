"""The README shows the numbers that memory is computed with, as they are."""

from __future__ import annotations

from pathlib import Path

from khiip_sidecar.memory.constants import markdown_table

README = Path(__file__).parents[1] / "README.md"


def test_the_readme_has_the_table_of_memory() -> None:
    text = README.read_text(encoding="utf-8")
    shown = text.partition("<!-- memory -->\n")[2].partition("\n<!-- /memory -->")[0]
    assert shown == markdown_table()
