"""Trajectory datasets in Parquet. Knows neither Ray nor torch."""
