"""Faults that people met in tools like this one, each tried from outside."""
