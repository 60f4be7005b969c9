"""The read side of Khiip: recall over an index, and its faces."""
