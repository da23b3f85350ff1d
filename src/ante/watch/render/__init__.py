"""Rendering of games: frames, video, terminal, pixel observations."""
