"""Every number and name of the game: jokers, consumables, vouchers, tags, blinds, decks, hands, packs. Standard library only."""
