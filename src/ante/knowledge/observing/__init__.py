"""What trainings saw: the line-ups of their games and which of them were won, and estimates over all runs."""
