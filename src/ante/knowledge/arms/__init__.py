"""Compiled scoring of positions with granted jokers. A folder of its own, so that other edits do not compile it again."""
