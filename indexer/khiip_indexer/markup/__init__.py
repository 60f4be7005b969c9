"""Markdown as Obsidian writes it, taken apart; `khiip_indexer.markdown` is its door."""
