"""The numbers and names of the game: jokers, consumables, vouchers, tags, blinds, decks, hands, packs. Standard library only."""
