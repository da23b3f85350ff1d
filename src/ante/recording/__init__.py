"""Recorded games: replays, replay fidelity, and saved start positions."""
