"""Foundations of the rules: compile flags, exact arithmetic, random streams, the record of a game, catalogue tables."""
