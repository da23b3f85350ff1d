"""The layout of an entity row (rows.py): places, flags, categories, counts, and the record."""

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.challenges import Challenge
from ante.catalog.consumables import CONSUMABLES, Consumable
from ante.catalog.decks import Deck, Stake
from ante.catalog.packs import PackKind
from ante.catalog.tags import Tag
from ante.engine.actions import Verb
from ante.engine.core.state import (
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_PACKS,
    MAX_PLAYED,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    SHOWN_CONSUMABLES,
    Phase,
)
from ante.env.entities.ids import CONSUMABLE_BASE, N_ITEM_IDS
from ante.env.layout import (
    FIRST_RANK,
    N_EDITIONS,
    N_ENHANCEMENTS,
    N_HANDS,
    N_RANKS,
    N_SEALS,
    N_SUITS,
    N_TAGS,
    N_VOUCHERS,
    RUN,
    SCALAR,
    columns,
    offsets,
)

# Places: location of an entity. Kinds of place: hand, jokers, consumables, row, pack, vouchers, booster packs.
SLOTS = (MAX_HAND, MAX_JOKERS, SHOWN_CONSUMABLES, MAX_ROW, MAX_PACK, MAX_SHOP_VOUCHERS, MAX_PACKS)
P_HAND, P_JOKER, P_CONSUMABLE, P_ROW, P_PACK, P_VOUCHER, P_BOOSTER = (sum(SLOTS[:i]) for i in range(len(SLOTS)))
MAX_ENTITIES = sum(SLOTS)

# Flags of an entity: its properties, and the verbs that can act on it now.
DEBUFFED, FACE_DOWN_FLAG, FORCED, ETERNAL, PERISHABLE, RENTAL, ACT_FIRST, ACT_SECOND = (1 << i for i in range(8))
ACTS: tuple[tuple[Verb, int, int], ...] = (  # verb with a target, first place of its targets, flag of its legal targets
    (Verb.BUY, P_ROW, ACT_FIRST),
    (Verb.BUY_AND_USE, P_ROW, ACT_SECOND),
    (Verb.BUY_VOUCHER, P_VOUCHER, ACT_FIRST),
    (Verb.OPEN_PACK, P_BOOSTER, ACT_FIRST),
    (Verb.PICK, P_PACK, ACT_FIRST),
    (Verb.USE, P_CONSUMABLE, ACT_FIRST),
    (Verb.SELL_CONSUMABLE, P_CONSUMABLE, ACT_SECOND),
    (Verb.SELL_JOKER, P_JOKER, ACT_FIRST),
    (Verb.MOVE_JOKER, P_JOKER, ACT_SECOND),
)

# Minimum and maximum hand cards that USE and PICK take with each item; those of PLAY and DISCARD are CARDS_PLAYED.
SETS = np.zeros((N_ITEM_IDS, 2), dtype=np.int64)
for _row in CONSUMABLES[1:]:
    if _row.max_highlighted:
        SETS[CONSUMABLE_BASE + _row.consumable] = max(1, _row.min_highlighted), _row.max_highlighted
SETS[CONSUMABLE_BASE + Consumable.AURA] = 1, 1
CARDS_PLAYED = (1, MAX_PLAYED)

# Categories and their numbers of values.
CATEGORIES: tuple[tuple[str, int], ...] = (
    ("phase", len(Phase)),
    ("deck", len(Deck)),
    ("stake", 1 + len(Stake)),
    ("blind", len(Blind)),
    ("boss", len(Blind)),
    ("blind_on_deck", 3),
    ("boss_disabled", 2),
    ("boss_rerolled", 2),
    ("open_pack", 1 + len(PackKind)),
    ("last_consumable", len(Consumable)),
    ("sort_by_suit", 2),
    ("last_hand", 1 + N_HANDS),
    ("challenge", len(Challenge)),
    ("small_tag", len(Tag)),
    ("small_tag_hand", 1 + N_HANDS),
    ("big_tag", len(Tag)),
    ("big_tag_hand", 1 + N_HANDS),
    ("idol_rank", FIRST_RANK + N_RANKS),
    ("idol_suit", 1 + N_SUITS),
    ("mail_rank", FIRST_RANK + N_RANKS),
    ("ancient_suit", 1 + N_SUITS),
    ("castle_suit", 1 + N_SUITS),
)
CATEGORY = columns("CATEGORY", *(name for name, _ in CATEGORIES))
# Columns of the observation's `run` that are categories of the same name, contiguous and in the same order.
FIRST_RUN, N_RUN = RUN.deck, RUN.selected_hand - RUN.deck
assert RUN._fields[FIRST_RUN : FIRST_RUN + N_RUN] == CATEGORY._fields[CATEGORY.deck : CATEGORY.deck + N_RUN]

LOG_10 = 100.0  # log10(1 + x) of chips and targets is stored in hundredths
LOG_2 = 256.0  # sign(x) log2(1 + |x|) of a joker's value, in 256ths
FRACTION = 10000.0
MOST_ROUNDS, HAND_UNIT = 15, 16  # `memory` is rounds left + HAND_UNIT (1 + listed hand)
CHOOSE_UNIT = 16  # `count` of a booster pack is its size + CHOOSE_UNIT choices
N_SCALARS = len(SCALAR)

# Counts and their widths.
COUNTS: tuple[tuple[str, int], ...] = (
    ("unknown", N_SUITS * N_RANKS),  # by suit and rank
    ("unknown_enhancements", N_ENHANCEMENTS),
    ("unknown_editions", N_EDITIONS),
    ("unknown_seals", N_SEALS),
    ("tags", N_TAGS),
    ("levels", N_HANDS),
    ("plays", N_HANDS),
    ("plays_round", N_HANDS),
)
COUNT_AT = offsets("COUNT_AT", dict(COUNTS))
N_COUNTS = sum(width for _, width in COUNTS)

row_t = np.dtype(
    [
        # entities; zero from n_entities on
        ("item_id", "i2", (MAX_ENTITIES,)),
        ("value", "i2", (MAX_ENTITIES,)),  # LOG_2 of a card's bonus chips or a joker's value
        ("place", "u1", (MAX_ENTITIES,)),
        ("trait", "u1", (MAX_ENTITIES,)),
        ("flag_bits", "u1", (MAX_ENTITIES,)),
        ("memory", "u1", (MAX_ENTITIES,)),  # Perishable: rounds left; To Do List: listed hand
        ("price", "u1", (MAX_ENTITIES,)),  # buy or sell price
        ("count", "u1", (MAX_ENTITIES,)),  # second counter of a joker; size and choices of a booster pack
        # the rest of the row
        ("scalars", "i2", (N_SCALARS,)),  # SCALAR; progress is chips / target, log_selected the missing chips
        ("categories", "u1", (len(CATEGORIES),)),
        ("counts", "u1", (N_COUNTS,)),
        ("vouchers", "u1", (-(-N_VOUCHERS // 8),)),  # redeemed, one bit each
        ("barred", "u1", (-(-N_HANDS // 8),)),  # hands that the boss forbids, one bit each
        ("verbs", "u1", (-(-len(Verb) // 8),)),  # verbs with a legal decision, one bit each
        ("n_entities", "u1"),
        ("n_hand", "u1"),
        ("spare", "u1", (4,)),  # makes the size a multiple of 4
    ]
)
