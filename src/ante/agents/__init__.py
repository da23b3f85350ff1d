"""Baseline players, and evaluation of any player on fixed seeds."""
