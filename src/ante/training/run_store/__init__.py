"""A run in an object store: session, upload, restore. Imports neither Ray nor torch."""
