"""Baseline implementations for comparison: a single-file PPO, Stable-Baselines3."""
