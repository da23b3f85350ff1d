"""Experiment trackers: Weights & Biases, MLflow. Imports neither Ray nor torch."""
