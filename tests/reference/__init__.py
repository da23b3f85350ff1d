"""A second scorer of played hands: slow, and written from the text of the rules alone."""
