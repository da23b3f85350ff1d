"""Compiled scoring of positions with granted jokers. A separate folder, so that other edits do not compile it again."""
