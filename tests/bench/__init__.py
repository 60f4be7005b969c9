"""Measurements that `make bench` runs; scripts, not tests."""
