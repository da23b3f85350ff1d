"""Comparison of the engine with recorded reference data, and the table of implemented and tested rules."""
