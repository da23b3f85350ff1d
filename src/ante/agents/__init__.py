"""Baseline players, and evaluation of any player on the seed panel."""
