"""Validated settings of a training run. Imports neither Ray nor torch."""
