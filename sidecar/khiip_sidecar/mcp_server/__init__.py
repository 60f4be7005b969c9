"""Recall for agents: the Model Context Protocol over a vault's operations."""
