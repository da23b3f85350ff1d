"""Searches for settings on Ray Tune: random search, successive halving, population-based training."""
