"""Compiled scoring of positions with granted jokers. In a separate folder, so that other edits do not compile it again."""
