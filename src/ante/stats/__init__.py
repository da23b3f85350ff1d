"""Statistics of how a player plays: facts from many games, as rates, curves and plots."""
