"""The rules of Balatro, compiled: one record per game, one function per rule. NumPy and Numba only."""
