"""Commands to play, replay, rate, analyse and watch games."""
