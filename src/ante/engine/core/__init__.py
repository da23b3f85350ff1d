"""What every rule stands on: compile flags, exact arithmetic, random streams, the record of a game, catalogue tables."""
