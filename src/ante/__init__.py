"""Ante: a seed-exact Balatro engine, its environment, and training on it."""

__version__ = "0.1.0"
