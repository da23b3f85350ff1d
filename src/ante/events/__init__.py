"""Events of games, trainings and decisions: the bus that carries them, and the store that keeps and queries them."""
