"""Ratings of players from games on the same seeds."""
