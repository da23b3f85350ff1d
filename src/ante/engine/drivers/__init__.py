"""Code that drives whole games: random legal play, seed surveys, batches on a CUDA device."""
