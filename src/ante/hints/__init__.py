"""Hints from a language model or from rules: requests, budgets, cache, validation and statistics."""
