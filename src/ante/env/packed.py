"""A game as the entity policy reads it: everything on the table side by side, what is legal included, in one small record.

What lies before the player becomes a list of entities, in this order and without gaps: hand cards, jokers, consumables,
the shop row, the open pack, vouchers, booster packs. Each is a few small numbers, the same ones for every kind. Its
`place` names kind and slot, its `thing` says what it is, two bits of its `marks` say which verbs can act on it now.
The content is that of the observation (layout.py), so nothing hidden is in it.

Verbs that act on hand cards take any set of them that has the right size (`SETS`), holds every forced card (PLAY and
DISCARD) and, for Aura, only cards with `ACT_FIRST`. Sorting and MOVE_CARD are not offered, MOVE_JOKER only to the right
neighbour's place, as in the discrete view.
"""

import math

import numpy as np

from ante.catalog.blinds import Blind
from ante.catalog.cards import Edition, Enhancement, Seal
from ante.catalog.challenges import Challenge
from ante.catalog.consumables import CONSUMABLES, Consumable
from ante.catalog.decks import Deck, Stake
from ante.catalog.jokers import Joker
from ante.catalog.packs import PackKind
from ante.catalog.tags import Tag
from ante.catalog.vouchers import Voucher
from ante.engine.actions import (
    F_BUY,
    F_BUY_USE,
    F_MOVE_JOKER,
    F_OPEN,
    F_SELECT_BLIND,
    F_SELL_CONSUMABLE,
    F_SELL_JOKER,
    F_VOUCHER,
    Verb,
)
from ante.engine.options import has_set
from ante.engine.rule import rule
from ante.engine.state import (
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_PACKS,
    MAX_PLAYED,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    SHOWN_CONSUMABLES,
    Kind,
    Phase,
)
from ante.env.games import Games
from ante.env.layout import SCALARS
from ante.env.observe import focus_target, log_of, short

# Places: where an entity lies. Kinds of place: hand, jokers, consumables, row, pack, vouchers, booster packs.
SLOTS = (MAX_HAND, MAX_JOKERS, SHOWN_CONSUMABLES, MAX_ROW, MAX_PACK, MAX_SHOP_VOUCHERS, MAX_PACKS)
P_HAND, P_JOKER, P_CONSUMABLE, P_ROW, P_PACK, P_VOUCHER, P_BOOSTER = (sum(SLOTS[:i]) for i in range(len(SLOTS)))
MAX_ENTITIES = sum(SLOTS)

# Things: what an entity is. 0 is nothing.
FACE_DOWN, STONE = 1, 2
T_CARD = 3  # + 13 suit + rank - 2
T_JOKER = T_CARD + 52 - 1  # + Joker
T_CONSUMABLE = T_JOKER + len(Joker) - 1  # + Consumable
T_VOUCHER = T_CONSUMABLE + len(Consumable) - 1  # + Voucher
T_BOOSTER = T_VOUCHER + len(Voucher)  # + PackKind
N_THINGS = T_BOOSTER + len(PackKind)

N_ENHANCEMENTS, N_EDITIONS, N_SEALS = len(Enhancement), len(Edition), len(Seal)
N_TRAITS = N_ENHANCEMENTS * N_EDITIONS * N_SEALS  # (enhancement * N_EDITIONS + edition) * N_SEALS + seal

# Marks.
DEBUFFED, FACE_DOWN_MARK, FORCED, ETERNAL, PERISHABLE, RENTAL, ACT_FIRST, ACT_SECOND = (1 << i for i in range(8))
ACTS: tuple[
    tuple[Verb, int, int], ...
] = (  # verb with a target, first place of its targets, mark of those it can act on
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

# Fewest and most hand cards that USE and PICK take with each thing; those of PLAY and DISCARD are CARDS_PLAYED.
SETS = np.zeros((N_THINGS, 2), dtype=np.int64)
for _row in CONSUMABLES[1:]:
    if _row.max_highlighted:
        SETS[T_CONSUMABLE + _row.consumable] = max(1, _row.min_highlighted), _row.max_highlighted
SETS[T_CONSUMABLE + Consumable.AURA] = 1, 1
CARDS_PLAYED = (1, MAX_PLAYED)

# Numbers of a closed list, and how many each list has.
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
    ("last_hand", 13),
    ("challenge", len(Challenge)),
    ("small_tag", len(Tag)),
    ("small_tag_hand", 13),
    ("big_tag", len(Tag)),
    ("big_tag_hand", 13),
    ("idol_rank", 15),
    ("idol_suit", 5),
    ("mail_rank", 15),
    ("ancient_suit", 5),
    ("castle_suit", 5),
)
N_RUN = 12  # of them are columns of the observation's `run`, in its order

LOG_10 = 100.0  # log10(1 + x) of chips and targets is written in hundredths
LOG_2 = 256.0  # sign(x) log2(1 + |x|) of what a joker has grown to, in 256ths
FRACTION = 10000.0
S_CHIPS, S_TARGET, S_FRACTION, S_MISSING = (
    SCALARS.index(name) for name in ("log_chips", "log_target", "progress", "log_selected")
)
N_SCALARS = len(SCALARS)

# Counts, and where they begin.
COUNTS: tuple[tuple[str, int], ...] = (
    ("unknown", 52),  # by suit and rank
    ("unknown_enhancements", 9),
    ("unknown_editions", 5),
    ("unknown_seals", 5),
    ("tags", 24),
    ("levels", 12),
    ("plays", 12),
    ("plays_round", 12),
)
C_UNKNOWN, C_ENHANCEMENTS, C_EDITIONS, C_SEALS, C_TAGS, C_LEVELS, C_PLAYS, C_PLAYS_ROUND = (
    sum(width for _, width in COUNTS[:i]) for i in range(len(COUNTS))
)
N_COUNTS = sum(width for _, width in COUNTS)

row_t = np.dtype(
    [
        # entities; those from n_entities on are 0
        ("thing", "i2", (MAX_ENTITIES,)),
        ("value", "i2", (MAX_ENTITIES,)),  # LOG_2 of a card's bonus chips, of a joker's value
        ("place", "u1", (MAX_ENTITIES,)),
        ("trait", "u1", (MAX_ENTITIES,)),
        ("marks", "u1", (MAX_ENTITIES,)),
        ("memory", "u1", (MAX_ENTITIES,)),  # rounds that a Perishable has left + 16 (1 + listed hand of To Do List)
        ("price", "u1", (MAX_ENTITIES,)),  # what it costs, or sells for
        ("count", "u1", (MAX_ENTITIES,)),  # second memory of a joker; size + 16 choose of a booster pack
        # the rest of the table
        ("scalars", "i2", (N_SCALARS,)),  # layout.SCALARS; progress is chips / target, log_selected the chips missing
        ("categories", "u1", (len(CATEGORIES),)),
        ("counts", "u1", (N_COUNTS,)),
        ("vouchers", "u1", (4,)),  # redeemed, a bit each
        ("barred", "u1", (2,)),  # hands that the boss does not want, a bit each
        ("verbs", "u1", (3,)),  # verbs with a legal decision, a bit each
        ("n_entities", "u1"),
        ("n_hand", "u1"),
        ("spare", "u1", (4,)),  # the size is a multiple of 4
    ]
)


def new_rows(n: int) -> np.recarray:
    """Blank rows of n games, shape (n,)."""
    return np.zeros(n, dtype=row_t).view(np.recarray)


def pack(games: Games, out: np.recarray) -> None:
    """Write the rows of all games as they were observed last: out (n,) row_t, overwritten.

    A game that is over has no legal verb.
    """
    pack_all(games.states, games.observations, out)


@rule
def pack_all(states, observations, out):
    """Write the rows of all games: states (n,) state_t, observations (n,) observation_t of them, out (n,) row_t."""
    for i in range(len(states)):
        pack_row(states[i], observations[i], out[i])


@rule
def pack_row(s, o, r):
    """Write one row. The record is as it was afterwards."""
    r.n_entities = 0
    r.n_hand = 0
    for i in range(3):
        r.verbs[i] = 0
    pack_hand(o, r)
    pack_owned(s, o, r)
    pack_items(s, o, r)
    pack_wares(o, r)
    blank_rest(r)
    pack_plain_verbs(s, o, r)
    pack_numbers(s, o, r)
    pack_categories(o, r)
    pack_counts(o, r)
    pack_bits(o, r)


@rule
def byte(x):
    """A whole number as 8 bits can hold it."""
    return max(0, min(255, int(x)))


@rule
def grown(x):
    """What a card or joker has grown to, in 256ths of a signed log2."""
    if x == 0.0:
        return 0
    size = LOG_2 * math.log2(1.0 + abs(x))
    return short(size if x > 0.0 else -size)


@rule
def allow(r, verb):
    """The verb has a legal decision."""
    r.verbs[verb >> 3] |= 1 << (verb & 7)


@rule
def act_mark(r, verb, legal, mark):
    """The mark of an entity that a verb can act on, 0 where it cannot; the verb is allowed."""
    if not legal:
        return 0
    allow(r, verb)
    return mark


@rule
def add_entity(r, place, thing, trait, marks, memory, price, count, value):
    """One more entity."""
    i = int(r.n_entities)
    r.place[i] = place
    r.thing[i] = thing
    r.trait[i] = trait
    r.marks[i] = marks
    r.memory[i] = memory
    r.price[i] = byte(price)
    r.count[i] = byte(count)
    r.value[i] = value
    r.n_entities = i + 1


@rule
def blank_rest(r):
    """The entities that are not there are 0."""
    for i in range(r.n_entities, MAX_ENTITIES):
        r.place[i] = 0
        r.thing[i] = 0
        r.trait[i] = 0
        r.marks[i] = 0
        r.memory[i] = 0
        r.price[i] = 0
        r.count[i] = 0
        r.value[i] = 0


@rule
def trait_of(enhancement, edition, seal):
    """Enhancement, edition and seal as one number."""
    return (int(enhancement) * N_EDITIONS + int(edition)) * N_SEALS + int(seal)


@rule
def face_of(rank, suit_plus_1):
    """The thing that a face-up playing card is; a Stone card has no rank."""
    return T_CARD + 13 * (int(suit_plus_1) - 1) + int(rank) - 2 if rank else STONE


@rule
def pack_hand(o, r):
    """The cards in hand; `allow_aura` marks those that Aura can take."""
    for i in range(MAX_HAND):
        if o.hand[i, 0] == 0:
            return
        thing = FACE_DOWN if o.hand[i, 7] else face_of(o.hand[i, 1], o.hand[i, 2])
        marks = o.hand[i, 6] * DEBUFFED + o.hand[i, 7] * FACE_DOWN_MARK + o.hand[i, 9] * FORCED
        trait = trait_of(o.hand[i, 3], o.hand[i, 4], o.hand[i, 5])
        add_entity(r, P_HAND + i, thing, trait, marks, 0, 0, 0, grown(float(o.hand[i, 10])))
        r.n_hand = i + 1


@rule
def allow_aura(s, r):
    """Aura can be used: the hand cards without an edition are marked."""
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].edition == Edition.NONE:
            r.marks[i] |= ACT_FIRST


@rule
def pack_owned(s, o, r):
    """Jokers and consumables."""
    for i in range(s.n_jokers):
        j = o.jokers
        marks = j[i, 2] * ETERNAL + j[i, 3] * PERISHABLE + j[i, 4] * RENTAL + j[i, 6] * DEBUFFED
        marks += j[i, 7] * FACE_DOWN_MARK + act_mark(r, Verb.SELL_JOKER, o.action_mask[F_SELL_JOKER + i], ACT_FIRST)
        if i < MAX_JOKERS - 1:
            marks += act_mark(r, Verb.MOVE_JOKER, o.action_mask[F_MOVE_JOKER + i], ACT_SECOND)
        memory = min(15, j[i, 5]) + 16 * j[i, 9]
        value, count = o.joker_values[i, 0], o.joker_values[i, 1]
        add_entity(r, P_JOKER + i, T_JOKER + j[i, 0], j[i, 1] * N_SEALS, marks, memory, j[i, 8], count, grown(value))
    for i in range(min(SHOWN_CONSUMABLES, int(s.n_consumables))):
        c = o.consumables
        usable = has_set(s, Verb.USE, i)
        marks = act_mark(r, Verb.USE, usable, ACT_FIRST)
        marks += act_mark(r, Verb.SELL_CONSUMABLE, o.action_mask[F_SELL_CONSUMABLE + i], ACT_SECOND)
        trait = c[i, 1] * int(Edition.NEGATIVE) * N_SEALS
        add_entity(r, P_CONSUMABLE + i, T_CONSUMABLE + c[i, 0], trait, marks, 0, c[i, 2], 0, 0)
        if usable and c[i, 0] == Consumable.AURA:
            allow_aura(s, r)


@rule
def pack_items(s, o, r):
    """The shop row and the open pack."""
    for i in range(MAX_ROW):
        if o.row[i, 0]:
            marks = act_mark(r, Verb.BUY, o.action_mask[F_BUY + i], ACT_FIRST)
            marks += act_mark(r, Verb.BUY_AND_USE, o.action_mask[F_BUY_USE + i], ACT_SECOND)
            add_item(o.row, i, P_ROW, marks, r)
    for i in range(MAX_PACK):
        if o.pack[i, 0]:
            legal = has_set(s, Verb.PICK, i)
            add_item(o.pack, i, P_PACK, act_mark(r, Verb.PICK, legal, ACT_FIRST), r)
            if legal and o.pack[i, 0] == Kind.CONSUMABLE and o.pack[i, 1] == Consumable.AURA:
                allow_aura(s, r)


@rule
def add_item(rows, i, place, marks, r):
    """One card of the shop row or a pack."""
    thing = face_of(rows[i, 2], rows[i, 3])
    if rows[i, 0] == Kind.JOKER:
        thing = T_JOKER + rows[i, 1]
    elif rows[i, 0] == Kind.CONSUMABLE:
        thing = T_CONSUMABLE + rows[i, 1]
    marks += rows[i, 7] * ETERNAL + rows[i, 8] * PERISHABLE + rows[i, 9] * RENTAL
    trait = trait_of(rows[i, 4], rows[i, 5], rows[i, 6])
    add_entity(r, place + i, thing, trait, marks, 16 * rows[i, 10], rows[i, 11], 0, 0)


@rule
def pack_wares(o, r):
    """Vouchers and booster packs for sale."""
    for i in range(MAX_SHOP_VOUCHERS):
        v = o.shop_vouchers
        if v[i, 0]:
            marks = act_mark(r, Verb.BUY_VOUCHER, o.action_mask[F_VOUCHER + i], ACT_FIRST)
            add_entity(r, P_VOUCHER + i, T_VOUCHER + v[i, 0], 0, marks, 0, v[i, 1], 0, 0)
    for i in range(MAX_PACKS):
        p = o.packs
        if p[i, 0]:
            marks = act_mark(r, Verb.OPEN_PACK, o.action_mask[F_OPEN + i], ACT_FIRST)
            add_entity(r, P_BOOSTER + i, T_BOOSTER + p[i, 0] - 1, 0, marks, 0, p[i, 3], p[i, 1] + 16 * p[i, 2], 0)


@rule
def pack_plain_verbs(s, o, r):
    """The verbs without a target."""
    if has_set(s, Verb.PLAY, 0):
        allow(r, Verb.PLAY)
    if has_set(s, Verb.DISCARD, 0):
        allow(r, Verb.DISCARD)
    for verb in range(Verb.SELECT_BLIND, Verb.SORT_HAND):
        if o.action_mask[F_SELECT_BLIND + verb - int(Verb.SELECT_BLIND)]:
            allow(r, verb)


@rule
def pack_numbers(s, o, r):
    """The quantities."""
    for i in range(N_SCALARS):
        r.scalars[i] = short(o.scalars[i])
    target, chips = focus_target(s), float(s.chips)
    r.scalars[S_CHIPS] = short(LOG_10 * o.scalars[S_CHIPS])
    r.scalars[S_TARGET] = short(LOG_10 * o.scalars[S_TARGET])
    r.scalars[S_FRACTION] = short(FRACTION * min(1.0, chips / target)) if target > 0.0 else 0
    r.scalars[S_MISSING] = short(LOG_10 * log_of(target - chips))


@rule
def pack_categories(o, r):
    """The numbers of a closed list, in the order of CATEGORIES."""
    c = r.categories
    c[0] = 0
    for i in range(1, 6):
        if o.phase[i]:
            c[0] = i
    for i in range(N_RUN):
        c[1 + i] = o.run[i]
    for i in range(2):
        c[1 + N_RUN + 2 * i] = o.skip_tags[i, 0]
        c[2 + N_RUN + 2 * i] = o.skip_tags[i, 1]
    for i in range(5):
        c[5 + N_RUN + i] = o.targets[i]


@rule
def pack_counts(o, r):
    """The counts, in the order of COUNTS."""
    c = r.counts
    for suit in range(4):
        for rank in range(13):
            c[C_UNKNOWN + 13 * suit + rank] = o.unknown[suit, rank]
    for i in range(9):
        c[C_ENHANCEMENTS + i] = o.unknown_enhancements[i]
    for i in range(5):
        c[C_EDITIONS + i] = o.unknown_editions[i]
        c[C_SEALS + i] = o.unknown_seals[i]
    for i in range(24):
        c[C_TAGS + i] = o.tags[i]
    for i in range(12):
        c[C_LEVELS + i] = byte(o.levels[i])
        c[C_PLAYS + i] = byte(o.plays[i])
        c[C_PLAYS_ROUND + i] = o.plays_round[i]


@rule
def pack_bits(o, r):
    """Redeemed vouchers and barred hands."""
    for i in range(4):
        bits = 0
        for k in range(8):
            bits |= int(o.vouchers[8 * i + k]) << k
        r.vouchers[i] = bits
    bits = 0
    for i in range(12):
        bits |= int(o.barred[i]) << i
    r.barred[0] = bits & 255
    r.barred[1] = bits >> 8
