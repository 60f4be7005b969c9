"""The steps of one sync; `khiip_indexer.sync` runs them."""
