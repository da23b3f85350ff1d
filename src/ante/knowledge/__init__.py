"""What works with what: measured effects of jokers and pairs of jokers, and a graph that stores and answers them."""
