"""The catalogue as arrays for compiled code. All numbers are defined in `catalog/`."""

import numpy as np

from ante.catalog.blinds import ANTE_BASE as BASES
from ante.catalog.blinds import BLINDS, BOSSES_SORTED
from ante.catalog.blinds import ante_base as base_of
from ante.catalog.cards import ACE, EDITIONS, ENHANCEMENTS, FRONTS, SEALS
from ante.catalog.cards import RANK_CHIPS as CHIPS_OF_RANKS
from ante.catalog.challenges import CHALLENGES
from ante.catalog.constants import PERISHABLE_POLL, RARITY_THRESHOLDS, SHOP_RATES
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.decks import DECKS, STAKES
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKERS, LEGENDARY, joker_pool
from ante.catalog.locks import LOCKS, N_LOCKS
from ante.catalog.packs import PACKS
from ante.catalog.packs import TOTAL_WEIGHT as PACK_TOTAL
from ante.catalog.packs import by_key as pack_number
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS


def _ints(values: object) -> np.ndarray:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]


def _floats(values: object) -> np.ndarray:
    return np.array(list(values), dtype=np.float64)  # type: ignore[call-overload]


def _bits(sets: object) -> np.ndarray:
    """Return each set of small integers as one integer with these bits set."""
    return _ints(sum(1 << member for member in set(members)) for members in sets)  # type: ignore[attr-defined]


def _value(row: object, *names: str) -> float:
    """Return the first of these fields that the row has, or 0."""
    values = row.values  # type: ignore[attr-defined]
    for name in names:
        if isinstance(values.get(name), (int, float)):
            return float(values[name])
    return 0.0


# Jokers, by Joker number: one table per field of a row, 0 for a field that the joker does not have.
J_RARITY = _ints(row.rarity for row in JOKERS)
J_COST = _ints(row.cost for row in JOKERS)
J_MULT = _floats(row.mult or 0.0 for row in JOKERS)
J_CHIPS = _floats(row.chips or 0.0 for row in JOKERS)
J_XMULT = _floats(row.xmult or 0.0 for row in JOKERS)
J_ODDS = _floats(row.odds or 0.0 for row in JOKERS)
J_START = _floats(row.start or 0.0 for row in JOKERS)
J_GROWTH = _floats(row.growth or 0.0 for row in JOKERS)
J_LOSS = _floats(row.loss or 0.0 for row in JOKERS)
J_SHARE = _floats(row.share or 0.0 for row in JOKERS)
J_DOLLARS = _ints(row.dollars or 0 for row in JOKERS)
J_COUNT = _ints(row.count or 0 for row in JOKERS)
J_REPEATS = _ints(row.repeats or 0 for row in JOKERS)
J_LEVELS = _ints(row.levels or 0 for row in JOKERS)
J_CREATES = _ints(row.creates or 0 for row in JOKERS)
J_HAND_SIZE = _ints(row.hand_size or 0 for row in JOKERS)
J_HANDS = _ints(row.hands or 0 for row in JOKERS)
J_DISCARDS = _ints(row.discards or 0 for row in JOKERS)
J_REROLLS = _ints(row.rerolls or 0 for row in JOKERS)
J_DEBT = _ints(row.debt or 0 for row in JOKERS)
J_DOUBLINGS = _ints(row.doublings or 0 for row in JOKERS)
J_CARDS = _ints(row.cards or 0 for row in JOKERS)
J_AT_LEAST = _ints(row.at_least or 0 for row in JOKERS)
J_AT_MOST = _ints(row.at_most or 0 for row in JOKERS)
J_EVERY = _ints(row.every or 0 for row in JOKERS)
J_PER = _ints(row.per or 0 for row in JOKERS)
J_RANKS = _bits(row.ranks for row in JOKERS)
J_SUITS = _bits(row.suits for row in JOKERS)
J_SUIT = _ints(-1 if row.suit is None else row.suit for row in JOKERS)
J_HAND = _ints(-1 if row.hand is None else row.hand for row in JOKERS)
J_TARGET_RARITY = _ints(row.target_rarity or 0 for row in JOKERS)
J_COPIED = _ints(row.blueprint_compat for row in JOKERS)
J_ETERNAL = _ints(row.eternal_compat for row in JOKERS)
J_PERISHABLE = _ints(row.perishable_compat for row in JOKERS)
J_GATE = _ints(row.needs_in_deck for row in JOKERS)
J_EXTINCTION = _ints(row.extinction for row in JOKERS)

# The pools by rarity, padded with 0.
POOLS = [joker_pool(rarity) for rarity in range(LEGENDARY + 1)]
POOL_SIZE = _ints(len(pool) for pool in POOLS)
POOL = np.zeros((len(POOLS), int(POOL_SIZE.max())), dtype=np.int64)
for _rarity, _members in enumerate(POOLS):
    POOL[_rarity, : len(_members)] = _members

# Consumables, by Consumable number.
C_COST = _ints(row.cost for row in CONSUMABLES)
C_SET = _ints(row.set for row in CONSUMABLES)
C_HAND = _ints(-1 if row.hand is None else row.hand for row in CONSUMABLES)
C_SOFTLOCKED = _ints(row.softlocked for row in CONSUMABLES)
C_IN_POOL = _ints(row.in_pool for row in CONSUMABLES)
C_MAX_CARDS = _ints(row.max_highlighted for row in CONSUMABLES)
C_MIN_CARDS = _ints(row.min_highlighted for row in CONSUMABLES)
C_ENHANCEMENT = _ints(row.enhancement for row in CONSUMABLES)
C_SUIT = _ints(-1 if row.suit is None else row.suit for row in CONSUMABLES)
C_SEAL = _ints(row.seal for row in CONSUMABLES)
C_RANKS = _ints(row.ranks for row in CONSUMABLES)
C_COUNT = _ints(row.count for row in CONSUMABLES)
C_LOWEST = _ints(row.lowest for row in CONSUMABLES)
C_HIGHEST = _ints(row.highest for row in CONSUMABLES)
C_DESTROYED = _ints(row.destroyed for row in CONSUMABLES)
C_DOLLARS = _ints(row.dollars for row in CONSUMABLES)
C_CAP = _ints(row.cap for row in CONSUMABLES)
C_ODDS = _floats(row.odds for row in CONSUMABLES)
C_LEVELS = _ints(row.levels for row in CONSUMABLES)
C_HAND_SIZE = _ints(row.hand_size for row in CONSUMABLES)
PLANET_OF_HAND = _ints(
    next(int(row.consumable) for row in CONSUMABLES if row.hand is not None and row.hand == hand.hand) for hand in HANDS
)

# Hands, by Hand number.
HAND_CHIPS = _floats(row.chips for row in HANDS)
HAND_MULT = _floats(row.mult for row in HANDS)
HAND_CHIPS_STEP = _floats(row.chips_per_level for row in HANDS)
HAND_MULT_STEP = _floats(row.mult_per_level for row in HANDS)
HAND_VISIBLE = _ints(row.visible_at_start for row in HANDS)

# Cards.
RANK_CHIPS = _floats(CHIPS_OF_RANKS)
ENHANCEMENT_CHIPS = _floats(row.chips for row in ENHANCEMENTS)
ENHANCEMENT_MULT = _floats(row.mult for row in ENHANCEMENTS)
ENHANCEMENT_X_MULT = _floats(row.x_mult for row in ENHANCEMENTS)
ENHANCEMENT_HELD_X_MULT = _floats(row.held_x_mult for row in ENHANCEMENTS)
ENHANCEMENT_HELD_DOLLARS = _ints(row.held_dollars for row in ENHANCEMENTS)
ENHANCEMENT_DOLLARS = _ints(row.dollars for row in ENHANCEMENTS)
ENHANCEMENT_MULT_ODDS = _floats(row.mult_odds for row in ENHANCEMENTS)
ENHANCEMENT_DOLLARS_ODDS = _floats(row.dollars_odds for row in ENHANCEMENTS)
ENHANCEMENT_BREAK_ODDS = _floats(row.break_odds for row in ENHANCEMENTS)
EDITION_COST = _ints(row.extra_cost for row in EDITIONS)
EDITION_CHIPS = _floats(row.chips for row in EDITIONS)
EDITION_MULT = _floats(row.mult for row in EDITIONS)
EDITION_X_MULT = _floats(row.x_mult for row in EDITIONS)
EDITION_SLOTS = _ints(row.slots for row in EDITIONS)
EDITION_SHARE = _floats(row.share for row in EDITIONS)
EDITION_ILLUSION_ABOVE = _floats(row.illusion_above for row in EDITIONS)
SEAL_DOLLARS = _ints(row.dollars for row in SEALS)
SEAL_RETRIGGERS = _ints(row.retriggers for row in SEALS)
SEAL_ABOVE = _floats(row.above for row in SEALS)
FRONT_SUIT = _ints(suit for suit, _ in FRONTS)
FRONT_RANK = _ints(rank for _, rank in FRONTS)

# Vouchers, tags, blinds, packs.
V_COST = _ints(row.cost for row in VOUCHERS)
V_REQUIRES = _ints(row.requires[0] if row.requires else 0 for row in VOUCHERS)
V_SHOP_SLOTS = _ints(row.shop_slots for row in VOUCHERS)
V_JOKER_SLOTS = _ints(row.joker_slots for row in VOUCHERS)
V_CONSUMABLE_SLOTS = _ints(row.consumable_slots for row in VOUCHERS)
V_HANDS = _ints(row.hands for row in VOUCHERS)
V_DISCARDS = _ints(row.discards for row in VOUCHERS)
V_HAND_SIZE = _ints(row.hand_size for row in VOUCHERS)
V_ANTE = _ints(row.ante for row in VOUCHERS)
V_PERCENT_OFF = _ints(row.percent_off for row in VOUCHERS)
V_EDITION_TIMES = _floats(row.edition_times for row in VOUCHERS)
V_REROLL_DISCOUNT = _ints(row.reroll_discount for row in VOUCHERS)
V_RATE_TIMES = _floats(row.rate_times for row in VOUCHERS)
V_PLAYING_CARD_RATE = _floats(row.playing_card_rate for row in VOUCHERS)
V_SPECTRAL_ABOVE = _floats(row.spectral_above for row in VOUCHERS)
V_X_MULT = _floats(row.x_mult for row in VOUCHERS)
V_INTEREST_CAP = _ints(row.interest_cap for row in VOUCHERS)
V_BOSS_REROLL = _ints(row.boss_reroll for row in VOUCHERS)
TAG_MIN_ANTE = _ints(row.min_ante for row in TAGS)
TAG_EDITION = _ints(row.edition for row in TAGS)
TAG_PACK = _ints(-1 if row.pack is None else pack_number[row.pack] for row in TAGS)
TAG_DOLLARS = _ints(row.dollars for row in TAGS)
TAG_CAP = _ints(row.cap for row in TAGS)
TAG_HAND_SIZE = _ints(row.hand_size for row in TAGS)
TAG_JOKERS = _ints(row.jokers for row in TAGS)
TAG_LEVELS = _ints(row.levels for row in TAGS)
TAG_REROLL_COST = _ints(row.reroll_cost for row in TAGS)
BLIND_CARDS = _ints(row.cards for row in BLINDS)
BLIND_ODDS = _floats(row.odds for row in BLINDS)
BLIND_HANDS = _ints(row.hands for row in BLINDS)
BLIND_DISCARDS = _ints(row.discards for row in BLINDS)
BLIND_HAND_SIZE = _ints(row.hand_size for row in BLINDS)
BLIND_LEVELS = _ints(row.levels for row in BLINDS)
BLIND_DOLLARS = _ints(row.dollars for row in BLINDS)
BLIND_FACTOR = _floats(row.factor for row in BLINDS)
BLIND_SHUFFLES = _ints(row.shuffles for row in BLINDS)
BLIND_SUIT = _ints(-1 if row.suit is None else row.suit for row in BLINDS)
BLIND_MULT = _floats(row.mult for row in BLINDS)
BLIND_REWARD = _ints(row.reward for row in BLINDS)
BLIND_SHOWDOWN = _ints(row.kind == "showdown" for row in BLINDS)
BLIND_MIN_ANTE = _ints(row.min_ante or 0 for row in BLINDS)
BOSS_ORDER = _ints(BOSSES_SORTED)
LAST_ANTE = 40  # from ante 39 on the base is NaN
ANTE_BASE = np.array([[base_of(ante, scaling) for ante in range(1, LAST_ANTE + 1)] for scaling in BASES])
PACK_KIND = _ints(row.kind for row in PACKS)
PACK_COST = _ints(row.cost for row in PACKS)
PACK_SIZE = _ints(row.size for row in PACKS)
PACK_CHOOSE = _ints(row.choose for row in PACKS)
PACK_WEIGHT = _floats(row.weight for row in PACKS)
PACK_WEIGHTS_TOTAL = float(PACK_TOTAL)

# The shop: weights of the kinds of cards, and thresholds of rolls.
JOKER_RATE = float(SHOP_RATES["Joker"])
TAROT_RATE = float(SHOP_RATES["Tarot"])
PLANET_RATE = float(SHOP_RATES["Planet"])
PLAYING_CARD_RATE = float(SHOP_RATES["Playing card"])
SPECTRAL_RATE = float(SHOP_RATES["Spectral"])
RARE_ABOVE, UNCOMMON_ABOVE = RARITY_THRESHOLDS["rare_above"], RARITY_THRESHOLDS["uncommon_above"]
PERISHABLE_ABOVE, PERISHABLE_UP_TO = PERISHABLE_POLL

# Decks, by Deck number.
DECK_HANDS = _ints(row.hands for row in DECKS)
DECK_DISCARDS = _ints(row.discards for row in DECKS)
DECK_HAND_SIZE = _ints(row.hand_size for row in DECKS)
DECK_JOKER_SLOTS = _ints(row.joker_slots for row in DECKS)
DECK_CONSUMABLE_SLOTS = _ints(row.consumable_slots for row in DECKS)
DECK_DOLLARS = _ints(row.dollars for row in DECKS)
DECK_HAND_DOLLARS = _ints(row.hand_dollars for row in DECKS)
DECK_DISCARD_DOLLARS = _ints(row.discard_dollars for row in DECKS)
DECK_INTEREST = _ints(row.interest for row in DECKS)
DECK_SPECTRAL_RATE = _floats(row.spectral_rate for row in DECKS)
DECK_TARGET_TIMES = _floats(row.target_times for row in DECKS)

# Stakes, by Stake number: each includes those below.
STAKE_SCALING = np.zeros(len(STAKES) + 1, dtype=np.int64)
STAKE_DISCARDS = np.zeros(len(STAKES) + 1, dtype=np.int64)
for _stake in STAKES:
    STAKE_SCALING[_stake.stake] = _stake.scaling or STAKE_SCALING[_stake.stake - 1]
    STAKE_DISCARDS[_stake.stake] = _stake.discards + STAKE_DISCARDS[_stake.stake - 1]

# Challenges, by Challenge number; row 0 is a run without a challenge.
CHALLENGE_MODIFIERS = _ints(row.modifiers for row in CHALLENGES)
CHALLENGE_DOLLARS = _ints(row.dollars for row in CHALLENGES)
CHALLENGE_HANDS = _ints(row.hands for row in CHALLENGES)
CHALLENGE_DISCARDS = _ints(row.discards for row in CHALLENGES)
CHALLENGE_HAND_SIZE = _ints(row.hand_size for row in CHALLENGES)
CHALLENGE_JOKER_SLOTS = _ints(row.joker_slots for row in CHALLENGES)
CHALLENGE_SEAL = _ints(row.seal for row in CHALLENGES)


def _padded(lists: list[list[int]]) -> np.ndarray:
    """Return lists of integers as one table, padded with 0."""
    table = np.zeros((len(lists), max(len(row) for row in lists)), dtype=np.int64)
    for row, numbers in enumerate(lists):
        table[row, : len(numbers)] = numbers
    return table


CHALLENGE_JOKERS = _padded([[int(j.joker) for j in row.jokers] for row in CHALLENGES])
CHALLENGE_EDITIONS = _padded([[int(j.edition) for j in row.jokers] for row in CHALLENGES])
CHALLENGE_STICKERS = _padded([[int(j.stickers) for j in row.jokers] for row in CHALLENGES])
CHALLENGE_CONSUMABLES = _padded([[int(c) for c in row.consumables] for row in CHALLENGES])
CHALLENGE_VOUCHERS = _padded([[int(v) for v in row.vouchers] for row in CHALLENGES])
CHALLENGE_COPIES = np.array([[row.ranks.count(rank) for rank in range(ACE + 1)] for row in CHALLENGES], dtype=np.int64)
CHALLENGE_ENHANCEMENT = np.array(
    [[int(row.enhancement) * (rank in row.enhanced) for rank in range(ACE + 1)] for row in CHALLENGES], dtype=np.int64
)
DECK_CONSUMABLES = _padded([[int(c) for c in row.consumables] for row in DECKS])
DECK_VOUCHERS = _padded([[int(v) for v in row.vouchers] for row in DECKS])
BANNED = np.zeros((len(CHALLENGES), N_LOCKS), dtype=np.uint8)
for _row in CHALLENGES:
    BANNED[_row.challenge, [LOCKS[key] for key in _row.banned]] = 1
