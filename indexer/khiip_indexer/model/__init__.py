"""The model behind `khiip_indexer.embedder`: its files, its graph, its word pieces."""
