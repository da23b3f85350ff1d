"""A game for a person in the terminal: keys, screens, score preview, undo, saved games, advice."""
