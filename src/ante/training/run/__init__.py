"""A training run: loop, progress, checkpoints, evaluation, metrics, memory."""
