"""A game as a list of entities: all visible items and legal actions in one small record.

The visible items are listed in this order and without gaps: hand cards, jokers, consumables, the shop row, the open
pack, vouchers, booster packs. Each is described by the same few small numbers. `place` encodes kind and slot, `item_id`
the item (ids.py), and two bits of `flag_bits` the verbs that can act on it now. The content is that of the observation
(env/layout.py), so it includes no hidden information.

Verbs that act on hand cards take any set of them that has the right size (`SETS`), contains every forced card (PLAY and
DISCARD) and, for Aura, only cards with `ACT_FIRST`. Sorting and MOVE_CARD are not included, MOVE_JOKER only to the slot
of the right neighbour, as in the discrete actions.

Threads: checking legality uses scratch fields of the game's record and restores them, so two threads must not encode
the same game at the same time.
"""

import math

import numpy as np

from ante.catalog.cards import Edition
from ante.catalog.consumables import Consumable
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
from ante.engine.core.records import as_records
from ante.engine.core.rule import rule
from ante.engine.core.state import (
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_PACKS,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    SHOWN_CONSUMABLES,
    Kind,
    Phase,
)
from ante.engine.options import has_set
from ante.env.entities.ids import (
    BOOSTER_BASE,
    CONSUMABLE_BASE,
    FACE_DOWN_CARD,
    JOKER_BASE,
    VOUCHER_BASE,
    card_id,
    trait_of,
)
from ante.env.entities.layout import (
    ACT_FIRST,
    ACT_SECOND,
    CATEGORY,
    CHOOSE_UNIT,
    COUNT_AT,
    DEBUFFED,
    ETERNAL,
    FACE_DOWN_FLAG,
    FIRST_RUN,
    FORCED,
    FRACTION,
    HAND_UNIT,
    LOG_2,
    LOG_10,
    MAX_ENTITIES,
    MOST_ROUNDS,
    N_RUN,
    N_SCALARS,
    P_BOOSTER,
    P_CONSUMABLE,
    P_HAND,
    P_JOKER,
    P_PACK,
    P_ROW,
    P_VOUCHER,
    PERISHABLE,
    RENTAL,
    row_t,
)
from ante.env.games import Games
from ante.env.layout import (
    BOOSTER,
    CARD,
    CONSUMABLE,
    ITEM,
    JOKER,
    JOKER_VALUE,
    N_EDITIONS,
    N_ENHANCEMENTS,
    N_HANDS,
    N_RANKS,
    N_SEALS,
    N_SUITS,
    N_TAGS,
    N_VOUCHERS,
    SCALAR,
    SKIP_TAG,
    TARGET,
    VOUCHER,
)
from ante.env.observe import focus_target, log_of
from ante.env.observe_items import short

N_PHASES = len(Phase)


def new_rows(n: int) -> np.recarray:
    """Return zeroed rows for n games, shape (n,)."""
    return as_records(np.zeros(n, dtype=row_t))


def pack(games: Games, out: np.recarray) -> None:
    """Write the rows of all games from their last observations: out (n,) row_t, overwritten.

    A game that is over has no legal verb.
    """
    pack_all(games.states, games.observations, out)


@rule
def pack_all(states, observations, out):
    """Write the rows of all games: states (n,) state_t, observations (n,) observation_t of them, out (n,) row_t."""
    for i in range(len(states)):
        write_row(states[i], observations[i], out[i])


@rule
def write_row(s, o, r):
    """Write one row. The game's record is modified during the call and restored before it returns."""
    r.n_entities = 0
    r.n_hand = 0
    for i in range(len(r.verbs)):
        r.verbs[i] = 0
    write_hand(o, r)
    write_owned(s, o, r)
    write_items(s, o, r)
    write_vouchers_and_boosters(o, r)
    clear_rest(r)
    write_plain_verbs(s, o, r)
    write_numbers(s, o, r)
    write_categories(o, r)
    write_counts(o, r)
    write_bits(o, r)


@rule
def byte(x):
    """Clip an integer to the range of 8 bits."""
    return max(0, min(255, int(x)))


@rule
def signed_log2(x):
    """Return the value of a card or joker in 256ths of a signed log2."""
    if x == 0.0:
        return 0
    size = LOG_2 * math.log2(1.0 + abs(x))
    return short(size if x > 0.0 else -size)


@rule
def allow(r, verb):
    """Mark a verb as having a legal decision."""
    r.verbs[verb >> 3] |= 1 << (verb & 7)


@rule
def act_flag(r, verb, legal, flag):
    """Return `flag` and allow the verb if it can act on the entity, else return 0."""
    if not legal:
        return 0
    allow(r, verb)
    return flag


@rule
def add_entity(r, place, item, trait, flags, memory, price, count, value):
    """Append an entity."""
    i = int(r.n_entities)
    r.place[i] = place
    r.item_id[i] = item
    r.trait[i] = trait
    r.flag_bits[i] = flags
    r.memory[i] = memory
    r.price[i] = byte(price)
    r.count[i] = byte(count)
    r.value[i] = value
    r.n_entities = i + 1


@rule
def clear_rest(r):
    """Set all fields of the unused entities to 0."""
    for i in range(r.n_entities, MAX_ENTITIES):
        r.place[i] = 0
        r.item_id[i] = 0
        r.trait[i] = 0
        r.flag_bits[i] = 0
        r.memory[i] = 0
        r.price[i] = 0
        r.count[i] = 0
        r.value[i] = 0


@rule
def write_hand(o, r):
    """Write the cards in hand; `allow_aura` flags those that Aura can take."""
    for i in range(MAX_HAND):
        if o.hand[i, CARD.present] == 0:
            return
        item = FACE_DOWN_CARD if o.hand[i, CARD.face_down] else card_id(o.hand[i, CARD.rank], o.hand[i, CARD.suit])
        flags = (
            o.hand[i, CARD.debuffed] * DEBUFFED
            + o.hand[i, CARD.face_down] * FACE_DOWN_FLAG
            + o.hand[i, CARD.forced] * FORCED
        )
        trait = trait_of(o.hand[i, CARD.enhancement], o.hand[i, CARD.edition], o.hand[i, CARD.seal])
        add_entity(r, P_HAND + i, item, trait, flags, 0, 0, 0, signed_log2(float(o.hand[i, CARD.bonus])))
        r.n_hand = i + 1


@rule
def allow_aura(s, r):
    """Allow Aura and flag the hand cards without an edition."""
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].edition == Edition.NONE:
            r.flag_bits[i] |= ACT_FIRST


@rule
def write_owned(s, o, r):
    """Write jokers and consumables."""
    for i in range(s.n_jokers):
        j = o.jokers
        flags = (
            j[i, JOKER.eternal] * ETERNAL
            + j[i, JOKER.perishable] * PERISHABLE
            + j[i, JOKER.rental] * RENTAL
            + j[i, JOKER.debuffed] * DEBUFFED
        )
        flags += j[i, JOKER.face_down] * FACE_DOWN_FLAG + act_flag(
            r, Verb.SELL_JOKER, o.action_mask[F_SELL_JOKER + i], ACT_FIRST
        )
        if i < MAX_JOKERS - 1:
            flags += act_flag(r, Verb.MOVE_JOKER, o.action_mask[F_MOVE_JOKER + i], ACT_SECOND)
        memory = min(MOST_ROUNDS, j[i, JOKER.rounds]) + HAND_UNIT * j[i, JOKER.hand]
        value, count = o.joker_values[i, JOKER_VALUE.value], o.joker_values[i, JOKER_VALUE.count]
        add_entity(
            r,
            P_JOKER + i,
            JOKER_BASE + j[i, JOKER.id],
            j[i, JOKER.edition] * N_SEALS,
            flags,
            memory,
            j[i, JOKER.sell_value],
            count,
            signed_log2(value),
        )
    for i in range(min(SHOWN_CONSUMABLES, int(s.n_consumables))):
        c = o.consumables
        usable = has_set(s, Verb.USE, i)
        flags = act_flag(r, Verb.USE, usable, ACT_FIRST)
        flags += act_flag(r, Verb.SELL_CONSUMABLE, o.action_mask[F_SELL_CONSUMABLE + i], ACT_SECOND)
        trait = c[i, CONSUMABLE.negative] * int(Edition.NEGATIVE) * N_SEALS
        add_entity(
            r,
            P_CONSUMABLE + i,
            CONSUMABLE_BASE + c[i, CONSUMABLE.id],
            trait,
            flags,
            0,
            c[i, CONSUMABLE.sell_value],
            0,
            0,
        )
        if usable and c[i, CONSUMABLE.id] == Consumable.AURA:
            allow_aura(s, r)


@rule
def write_items(s, o, r):
    """Write the shop row and the open pack."""
    for i in range(MAX_ROW):
        if o.row[i, ITEM.kind]:
            flags = act_flag(r, Verb.BUY, o.action_mask[F_BUY + i], ACT_FIRST)
            flags += act_flag(r, Verb.BUY_AND_USE, o.action_mask[F_BUY_USE + i], ACT_SECOND)
            add_item(o.row, i, P_ROW, flags, r)
    for i in range(MAX_PACK):
        if o.pack[i, ITEM.kind]:
            legal = has_set(s, Verb.PICK, i)
            add_item(o.pack, i, P_PACK, act_flag(r, Verb.PICK, legal, ACT_FIRST), r)
            if legal and o.pack[i, ITEM.kind] == Kind.CONSUMABLE and o.pack[i, ITEM.id] == Consumable.AURA:
                allow_aura(s, r)


@rule
def add_item(rows, i, place, flags, r):
    """Append one card of the shop row or a pack."""
    item = card_id(rows[i, ITEM.rank], rows[i, ITEM.suit])
    if rows[i, ITEM.kind] == Kind.JOKER:
        item = JOKER_BASE + rows[i, ITEM.id]
    elif rows[i, ITEM.kind] == Kind.CONSUMABLE:
        item = CONSUMABLE_BASE + rows[i, ITEM.id]
    flags += rows[i, ITEM.eternal] * ETERNAL + rows[i, ITEM.perishable] * PERISHABLE + rows[i, ITEM.rental] * RENTAL
    trait = trait_of(rows[i, ITEM.enhancement], rows[i, ITEM.edition], rows[i, ITEM.seal])
    add_entity(r, place + i, item, trait, flags, HAND_UNIT * rows[i, ITEM.hand], rows[i, ITEM.price], 0, 0)


@rule
def write_vouchers_and_boosters(o, r):
    """Write vouchers and booster packs for sale."""
    for i in range(MAX_SHOP_VOUCHERS):
        v = o.shop_vouchers
        if v[i, VOUCHER.id]:
            flags = act_flag(r, Verb.BUY_VOUCHER, o.action_mask[F_VOUCHER + i], ACT_FIRST)
            add_entity(r, P_VOUCHER + i, VOUCHER_BASE + v[i, VOUCHER.id], 0, flags, 0, v[i, VOUCHER.price], 0, 0)
    for i in range(MAX_PACKS):
        p = o.packs
        if p[i, BOOSTER.kind_plus_1]:
            flags = act_flag(r, Verb.OPEN_PACK, o.action_mask[F_OPEN + i], ACT_FIRST)
            add_entity(
                r,
                P_BOOSTER + i,
                BOOSTER_BASE + p[i, BOOSTER.kind_plus_1] - 1,
                0,
                flags,
                0,
                p[i, BOOSTER.price],
                p[i, BOOSTER.size] + CHOOSE_UNIT * p[i, BOOSTER.choose],
                0,
            )


@rule
def write_plain_verbs(s, o, r):
    """Write the verbs without a target."""
    if has_set(s, Verb.PLAY, 0):
        allow(r, Verb.PLAY)
    if has_set(s, Verb.DISCARD, 0):
        allow(r, Verb.DISCARD)
    for verb in range(Verb.SELECT_BLIND, Verb.SORT_HAND):
        if o.action_mask[F_SELECT_BLIND + verb - int(Verb.SELECT_BLIND)]:
            allow(r, verb)


@rule
def write_numbers(s, o, r):
    """Write the quantities."""
    for i in range(N_SCALARS):
        r.scalars[i] = short(o.scalars[i])
    target, chips = focus_target(s), float(s.chips)
    r.scalars[SCALAR.log_chips] = short(LOG_10 * o.scalars[SCALAR.log_chips])
    r.scalars[SCALAR.log_target] = short(LOG_10 * o.scalars[SCALAR.log_target])
    r.scalars[SCALAR.progress] = short(FRACTION * min(1.0, chips / target)) if target > 0.0 else 0
    r.scalars[SCALAR.log_selected] = short(LOG_10 * log_of(target - chips))


@rule
def write_categories(o, r):
    """Write the categories."""
    c = r.categories
    c[CATEGORY.phase] = 0
    for i in range(1, N_PHASES):
        if o.phase[i]:
            c[CATEGORY.phase] = i
    for i in range(N_RUN):
        c[CATEGORY.deck + i] = o.run[FIRST_RUN + i]
    c[CATEGORY.small_tag] = o.skip_tags[0, SKIP_TAG.tag]
    c[CATEGORY.small_tag_hand] = o.skip_tags[0, SKIP_TAG.orbital_hand_plus_1]
    c[CATEGORY.big_tag] = o.skip_tags[1, SKIP_TAG.tag]
    c[CATEGORY.big_tag_hand] = o.skip_tags[1, SKIP_TAG.orbital_hand_plus_1]
    c[CATEGORY.idol_rank] = o.targets[TARGET.idol_rank]
    c[CATEGORY.idol_suit] = o.targets[TARGET.idol_suit_plus_1]
    c[CATEGORY.mail_rank] = o.targets[TARGET.mail_rank]
    c[CATEGORY.ancient_suit] = o.targets[TARGET.ancient_suit_plus_1]
    c[CATEGORY.castle_suit] = o.targets[TARGET.castle_suit_plus_1]


@rule
def write_counts(o, r):
    """Write the counts, in the order of COUNTS."""
    c = r.counts
    for suit in range(N_SUITS):
        for rank in range(N_RANKS):
            c[COUNT_AT.unknown + N_RANKS * suit + rank] = o.unknown[suit, rank]
    for i in range(N_ENHANCEMENTS):
        c[COUNT_AT.unknown_enhancements + i] = o.unknown_enhancements[i]
    for i in range(N_EDITIONS):
        c[COUNT_AT.unknown_editions + i] = o.unknown_editions[i]
    for i in range(N_SEALS):
        c[COUNT_AT.unknown_seals + i] = o.unknown_seals[i]
    for i in range(N_TAGS):
        c[COUNT_AT.tags + i] = o.tags[i]
    for i in range(N_HANDS):
        c[COUNT_AT.levels + i] = byte(o.levels[i])
        c[COUNT_AT.plays + i] = byte(o.plays[i])
        c[COUNT_AT.plays_round + i] = o.plays_round[i]


@rule
def write_bits(o, r):
    """Write redeemed vouchers and forbidden hands, one bit each."""
    for i in range(len(r.vouchers)):
        r.vouchers[i] = 0
    for i in range(N_VOUCHERS):
        r.vouchers[i >> 3] |= int(o.vouchers[i]) << (i & 7)
    for i in range(len(r.barred)):
        r.barred[i] = 0
    for i in range(N_HANDS):
        r.barred[i >> 3] |= int(o.barred[i]) << (i & 7)
