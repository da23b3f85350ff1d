"""The catalogue as arrays, for compiled code. Every number stands in `catalog/`; here it only changes its shape."""

import numpy as np

from ante.catalog.blinds import BLINDS, BOSSES_SORTED
from ante.catalog.blinds import ante_base as base_of
from ante.catalog.cards import EDITIONS, ENHANCEMENTS, FRONTS
from ante.catalog.cards import RANK_CHIPS as CHIPS_OF_RANKS
from ante.catalog.challenges import CHALLENGES
from ante.catalog.consumables import CONSUMABLES
from ante.catalog.hands import HANDS
from ante.catalog.jokers import JOKER_POOLS, JOKERS
from ante.catalog.locks import LOCKS, N_LOCKS
from ante.catalog.packs import PACKS
from ante.catalog.packs import TOTAL_WEIGHT as PACK_TOTAL
from ante.catalog.tags import TAGS
from ante.catalog.vouchers import VOUCHERS


def _ints(values: object) -> np.ndarray:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]


def _floats(values: object) -> np.ndarray:
    return np.array(list(values), dtype=np.float64)  # type: ignore[call-overload]


def _value(row: object, *names: str) -> float:
    """The first of these numbers that the row has, 0 where it has none."""
    values = row.values  # type: ignore[attr-defined]
    for name in names:
        if isinstance(values.get(name), (int, float)):
            return float(values[name])
    return 0.0


# Jokers, by Joker number.
J_RARITY = _ints(row.rarity for row in JOKERS)
J_COST = _ints(row.cost for row in JOKERS)
J_COPIED = _ints(row.blueprint_compat for row in JOKERS)
J_ETERNAL = _ints(row.eternal_compat for row in JOKERS)
J_PERISHABLE = _ints(row.perishable_compat for row in JOKERS)
J_AMOUNT = _floats(_value(row, "amount") for row in JOKERS)
J_MULT = _floats(_value(row, "mult", "s_mult", "t_mult") for row in JOKERS)
J_CHIPS = _floats(_value(row, "chips", "t_chips") for row in JOKERS)
J_CHIP_MOD = _floats(_value(row, "chip_mod") for row in JOKERS)
J_XMULT = _floats(_value(row, "Xmult", "xmult") for row in JOKERS)
J_ODDS = _floats(_value(row, "odds") for row in JOKERS)
J_DOLLARS = _floats(_value(row, "dollars") for row in JOKERS)
J_GATE = _ints(
    next((e.enhancement for e in ENHANCEMENTS if e.key and e.key == row.requires_enhancement_in_deck), 0)
    for row in JOKERS
)
SUIT_NAMES = {"Spades": 0, "Hearts": 1, "Clubs": 2, "Diamonds": 3}
J_SUIT = _ints(SUIT_NAMES.get(str(row.values.get("suit")), -1) for row in JOKERS)
HAND_NAMES = {row.name: int(row.hand) for row in HANDS}
J_HAND = _ints(HAND_NAMES.get(str(row.values.get("type")), -1) for row in JOKERS)

# The pools by rarity, padded with 0.
POOL_SIZE = _ints([0] + [len(JOKER_POOLS[r]) for r in (1, 2, 3, 4)])
POOL = np.zeros((5, int(POOL_SIZE.max())), dtype=np.int64)
for _rarity, _members in JOKER_POOLS.items():
    POOL[_rarity, : len(_members)] = _members

# Consumables, by Consumable number.
C_COST = _ints(row.cost for row in CONSUMABLES)
C_SET = _ints(row.set for row in CONSUMABLES)
C_HAND = _ints(-1 if row.hand is None else row.hand for row in CONSUMABLES)
C_SOFTLOCKED = _ints(row.softlocked for row in CONSUMABLES)
C_IN_POOL = _ints(row.in_pool for row in CONSUMABLES)
C_MAX_CARDS = _ints(int(_value(row, "max_highlighted")) for row in CONSUMABLES)
C_MIN_CARDS = _ints(int(_value(row, "min_highlighted")) for row in CONSUMABLES)
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
EDITION_COST = _ints(row.extra_cost for row in EDITIONS)
FRONT_SUIT = _ints(suit for suit, _ in FRONTS)
FRONT_RANK = _ints(rank for _, rank in FRONTS)

# Vouchers, tags, blinds, packs.
V_COST = _ints(row.cost for row in VOUCHERS)
V_REQUIRES = _ints(row.requires[0] if row.requires else 0 for row in VOUCHERS)
TAG_MIN_ANTE = _ints(row.min_ante for row in TAGS)
BLIND_MULT = _floats(row.mult for row in BLINDS)
BLIND_REWARD = _ints(row.reward for row in BLINDS)
BLIND_SHOWDOWN = _ints(row.kind == "showdown" for row in BLINDS)
BLIND_MIN_ANTE = _ints(row.min_ante or 0 for row in BLINDS)
BOSS_ORDER = _ints(BOSSES_SORTED)
LAST_ANTE = 40  # from ante 39 on the base is no number
ANTE_BASE = np.array([[base_of(ante, scaling) for ante in range(1, LAST_ANTE + 1)] for scaling in (1, 2, 3)])
PACK_KIND = _ints(row.kind for row in PACKS)
PACK_COST = _ints(row.cost for row in PACKS)
PACK_SIZE = _ints(row.size for row in PACKS)
PACK_CHOOSE = _ints(row.choose for row in PACKS)
PACK_WEIGHT = _floats(row.weight for row in PACKS)
PACK_WEIGHTS_TOTAL = float(PACK_TOTAL)

# Challenges, by Challenge number; row 0 is an ordinary run.
CHALLENGE_MODIFIERS = _ints(row.modifiers for row in CHALLENGES)
CHALLENGE_DOLLARS = _ints(row.dollars for row in CHALLENGES)
CHALLENGE_HANDS = _ints(row.hands for row in CHALLENGES)
CHALLENGE_DISCARDS = _ints(row.discards for row in CHALLENGES)
CHALLENGE_HAND_SIZE = _ints(row.hand_size for row in CHALLENGES)
CHALLENGE_JOKER_SLOTS = _ints(row.joker_slots for row in CHALLENGES)
CHALLENGE_SEAL = _ints(row.seal for row in CHALLENGES)


def _padded(lists: list[list[int]]) -> np.ndarray:
    """Lists of numbers as one table, filled up with 0."""
    table = np.zeros((len(lists), max(len(row) for row in lists)), dtype=np.int64)
    for row, numbers in enumerate(lists):
        table[row, : len(numbers)] = numbers
    return table


CHALLENGE_JOKERS = _padded([[int(j.joker) for j in row.jokers] for row in CHALLENGES])
CHALLENGE_EDITIONS = _padded([[int(j.edition) for j in row.jokers] for row in CHALLENGES])
CHALLENGE_STICKERS = _padded([[int(j.stickers) for j in row.jokers] for row in CHALLENGES])
CHALLENGE_CONSUMABLES = _padded([[int(c) for c in row.consumables] for row in CHALLENGES])
CHALLENGE_VOUCHERS = _padded([[int(v) for v in row.vouchers] for row in CHALLENGES])
CHALLENGE_COPIES = np.array([[row.ranks.count(rank) for rank in range(15)] for row in CHALLENGES], dtype=np.int64)
CHALLENGE_ENHANCEMENT = np.array(
    [[int(row.enhancement) * (rank in row.enhanced) for rank in range(15)] for row in CHALLENGES], dtype=np.int64
)
BANNED = np.zeros((len(CHALLENGES), N_LOCKS), dtype=np.uint8)
for _row in CHALLENGES:
    BANNED[_row.challenge, [LOCKS[key] for key in _row.banned]] = 1
