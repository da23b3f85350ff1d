"""Hints during training and evaluation: which positions are sent to an advisor and how the responses are used."""
