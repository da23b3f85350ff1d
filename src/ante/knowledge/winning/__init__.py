"""What wins games: strategies mined from games, and jokers that are granted to other games, which are played on."""
