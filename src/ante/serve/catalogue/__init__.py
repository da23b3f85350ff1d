"""The run catalogue: a page of all runs in a folder or a store, with their reports and videos, read-only."""
