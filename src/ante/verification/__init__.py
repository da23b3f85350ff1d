"""Comparison of the engine with recorded reference data, and the table of rules with their tests."""
