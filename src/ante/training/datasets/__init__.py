"""Trajectory datasets in Parquet. Imports neither Ray nor torch."""
