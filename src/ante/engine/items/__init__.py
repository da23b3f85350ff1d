"""Creation and storage of cards: pools, makers, prices, packs and vouchers."""
