"""Numbers of a run that belong to no single item."""

START_MONEY = 4
HANDS = 4
DISCARDS = 3
HAND_SIZE = 8
JOKER_SLOTS = 5
CONSUMABLE_SLOTS = 2
WIN_ANTE = 8
REROLL_BASE = 5
REROLL_STEP = 1
SHOP_SLOTS = 2
SHOP_PACKS = 2
INTEREST_PER = 5
INTEREST_AMOUNT = 1
INTEREST_CAP_FIELD = 25  # maximum money that earns interest, so at most $5 per round
MONEY_PER_HAND = 1
ETERNAL_POLL = 0.7
PERISHABLE_POLL = (0.4, 0.7)  # above the first, at most the second
RENTAL_POLL = 0.7
PERISHABLE_ROUNDS = 5
RENTAL_COST_PER_ROUND = 3
RENTAL_BUY_PRICE = 1
SHOP_RATES: dict[str, float] = {"Joker": 20.0, "Tarot": 4.0, "Planet": 4.0, "Playing card": 0.0, "Spectral": 0.0}
RARITY_THRESHOLDS: dict[str, float] = {"rare_above": 0.95, "uncommon_above": 0.7}
PLAYING_CARD_COST = 1
