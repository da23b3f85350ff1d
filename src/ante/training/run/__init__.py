"""A training run from start to end: loop, progress, checkpoints, evaluation, metrics, memory."""
