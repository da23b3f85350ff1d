"""Population-based training and its search space."""
