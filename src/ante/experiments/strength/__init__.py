"""Time to strength: the minutes of training after which a recipe plays as well as the released policy."""
