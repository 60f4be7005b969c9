"""Tests of the embedders that can be chosen, and of the change from one to another."""
