"""The game as a list of entities: item ids, and one small record per game for policies with attention."""
