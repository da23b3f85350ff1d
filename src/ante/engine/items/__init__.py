"""How cards come into being and where they are kept: pools, creation, prices, packs, vouchers."""
