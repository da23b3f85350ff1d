"""Commands to train, compare and inspect training."""
