"""Trained policies as players: by name, in a league, as releases."""
