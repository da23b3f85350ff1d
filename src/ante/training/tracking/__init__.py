"""Experiment trackers: Weights & Biases, MLflow. Knows neither Ray nor torch."""
