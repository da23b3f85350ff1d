"""Integration with RLlib: algorithms, their configuration, storage paths."""
