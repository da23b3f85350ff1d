"""Measurement of joker effects on the score of a hand, on positions of recorded games."""
