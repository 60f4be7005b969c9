"""Hooks that bring the index up to the notes after git has changed them."""
