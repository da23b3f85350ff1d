"""Commands to train and compare policies, and to work with datasets, hints and trackers."""
