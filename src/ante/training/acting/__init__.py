"""Trained policies that act: as players of evaluations, leagues and videos, and as what search needs of a player."""
