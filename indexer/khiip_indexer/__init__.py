"""The write side of Khiip: notes in, a `.khiip` index out."""

__version__ = "0.1.0"
