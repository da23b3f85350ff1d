"""Visualisation of runs: episodes, reports, galleries, learning curves."""
