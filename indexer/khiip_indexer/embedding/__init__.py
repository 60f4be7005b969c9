"""Which embedder a vault has: what the user chose, and whatever turns texts into vectors."""
