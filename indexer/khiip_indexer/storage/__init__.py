"""The files in `.khiip`: tables, reads, consistency, recovery."""
