"""Hints during training and evaluation: which positions are sent to an adviser and how the responses are used."""
