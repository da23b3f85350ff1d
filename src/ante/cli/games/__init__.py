"""Commands to play, replay, rate and watch games."""
