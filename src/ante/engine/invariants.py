"""Invariants of every reachable state. The fuzz test checks them after every decision."""

from enum import IntEnum

from ante.catalog.cards import ACE, N_SUITS, TWO, Edition, Enhancement, Seal
from ante.catalog.consumables import Consumable
from ante.catalog.jokers import Joker
from ante.engine.blinds import blind_target
from ante.engine.core.rule import rule
from ante.engine.core.state import (
    CONSUMABLE_KEYS,
    MAX_CARDS,
    MAX_CONSUMABLES,
    MAX_HAND,
    MAX_JOKERS,
    MAX_PACK,
    MAX_ROW,
    MAX_SHOP_VOUCHERS,
    MAX_TAGS,
    N_HANDS,
    STREAM_SLOTS,
    Kind,
    Phase,
    Place,
    Table,
)

N_JOKERS, N_CONSUMABLES, N_TABLES = len(Joker), len(Consumable), len(Table)
N_ENHANCEMENTS, N_EDITIONS, N_SEALS = len(Enhancement), len(Edition), len(Seal)


class Broken(IntEnum):
    """The failed invariant; NOTHING if all hold."""

    NOTHING = 0
    PHASE = 1
    COUNTS = 2  # a list exceeds its capacity
    CARD_PLACES = 3  # the lists contradict the cards' places, or a card is in two lists
    CARD_VALUES = 4
    OWNED = 5  # an owned item is of the wrong kind or has no number
    USED_SET = 6  # the key of an owned item is not in the set of used items
    LEVELS = 7
    ROUND = 8  # hands or discards below zero, or a round without a target
    STREAMS = 9  # a random stream did not fit, so draws no longer follow the seed
    PENDING = 10  # an event was not settled
    SELECTION = 11
    OVERFLOWS = 13  # a count of overflows is below zero
    ILLEGAL = 12  # a decision of the mask was refused


@rule
def broken(s):
    """Return the first invariant that does not hold in this game, as Broken."""
    if s.phase < Phase.BLIND_SELECT or s.phase > Phase.OVER:
        return int(Broken.PHASE)
    if not counts_valid(s):
        return int(Broken.COUNTS)
    if not places_valid(s):
        return int(Broken.CARD_PLACES)
    if not cards_valid(s):
        return int(Broken.CARD_VALUES)
    if not owned_items_valid(s):
        return int(Broken.OWNED)
    if not used_set_valid(s):
        return int(Broken.USED_SET)
    for hand in range(N_HANDS):
        if s.levels[hand] < 1 or s.plays[hand] < 0:
            return int(Broken.LEVELS)
    if s.hands_left < 0 or s.discards_left < 0 or (s.phase == Phase.PLAY and not has_target(s)):
        return int(Broken.ROUND)
    if s.overflows[Table.STREAMS] > 0:
        return int(Broken.STREAMS)
    for table in range(N_TABLES):
        if s.overflows[table] < 0:
            return int(Broken.OVERFLOWS)
    if s.pending_added or s.pending_faces or s.pending_glass or s.lineup_stale:
        return int(Broken.PENDING)
    if s.selected >> int(s.n_hand):
        return int(Broken.SELECTION)
    return int(Broken.NOTHING)


@rule
def has_target(s):
    """Return whether the blind requires chips: more than 0, or NaN in antes for which the game has no number."""
    wanted = blind_target(s, int(s.blind))
    return s.target > 0 or (s.target != s.target and wanted != wanted)


@rule
def counts_valid(s):
    """Return whether every list is within its capacity."""
    return (
        0 <= s.n_cards <= MAX_CARDS
        and 0 <= s.n_deck <= s.n_cards
        and 0 <= s.n_hand <= MAX_HAND
        and 0 <= s.n_jokers <= MAX_JOKERS
        and 0 <= s.n_consumables <= MAX_CONSUMABLES
        and 0 <= s.n_row <= MAX_ROW
        and 0 <= s.n_pack <= MAX_PACK
        and 0 <= s.n_tags <= MAX_TAGS
        and 0 <= s.n_shop_vouchers <= MAX_SHOP_VOUCHERS
        and 0 <= s.n_streams < STREAM_SLOTS
    )


@rule
def places_valid(s):
    """Return whether each card in the draw pile or the hand records that place and is listed there once."""
    in_deck = 0
    in_hand = 0
    for i in range(s.n_cards):
        if s.cards[i].place == Place.DECK:
            in_deck += 1
        elif s.cards[i].place == Place.HAND:
            in_hand += 1
        elif s.cards[i].place == Place.PLAYED:
            return False
    if in_deck != s.n_deck or in_hand != s.n_hand:
        return False
    for i in range(s.n_deck):
        if s.cards[s.deck[i]].place != Place.DECK:
            return False
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].place != Place.HAND:
            return False
        for j in range(i):
            if s.hand[i] == s.hand[j]:
                return False
    return True


@rule
def cards_valid(s):
    """Return whether ranks, suits, enhancements, editions and seals are in their ranges."""
    for i in range(s.n_cards):
        c = s.cards[i]
        if not (TWO <= c.rank <= ACE and 0 <= c.suit < N_SUITS and c.bonus >= 0):
            return False
        if not (0 <= c.enhancement < N_ENHANCEMENTS and 0 <= c.edition < N_EDITIONS and 0 <= c.seal < N_SEALS):
            return False
    return True


@rule
def owned_items_valid(s):
    """Return whether owned items are jokers and consumables with prices that are not negative."""
    for i in range(s.n_jokers):
        item = s.jokers[i]
        if item.kind != Kind.JOKER or item.id < 1 or item.id >= N_JOKERS or item.cost < 0:
            return False
    for i in range(s.n_consumables):
        item = s.consumables[i]
        if item.kind != Kind.CONSUMABLE or item.id < 1 or item.id >= N_CONSUMABLES or item.cost < 0:
            return False
    return True


@rule
def used_set_valid(s):
    """Return whether the keys of all owned items are in the set of used items."""
    for i in range(s.n_jokers):
        if not s.used[s.jokers[i].id]:
            return False
    for i in range(s.n_consumables):
        if not s.used[CONSUMABLE_KEYS + s.consumables[i].id]:
            return False
    return True
