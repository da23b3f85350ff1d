"""The actions of a player, and their legality.

A macro decision is one int64. Its encoding never changes:

    bits 0-5    verb (Verb)
    bits 6-13   target: a slot, or the first of two
    bits 14-21  to: the second slot of a move, or the order of a sort
    bits 22-45  cards: a bit per hand position, leftmost is bit 22

The `N_DISCRETE` discrete actions are a fixed action space for libraries that require one: select cards one by one
(SELECT, CLEAR), then act. Discrete PLAY, DISCARD, USE and PICK use the selected cards.
"""

from enum import IntEnum

import numpy as np

from ante.catalog.cards import Edition, Sticker
from ante.engine.core.rule import rule
from ante.engine.core.state import (
    MAX_CARDS,
    MAX_CONSUMABLES,
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
from ante.engine.effects.consumable_dispatch import consumable_allowed
from ante.engine.effects.consumables import takes_cards
from ante.engine.items.owned import room_for_consumable, room_for_joker
from ante.engine.items.prices import shop_price
from ante.engine.items.vouchers import boss_can_be_rerolled, boss_reroll_price
from ante.engine.shop import pack_price, reroll_price, voucher_price


class Verb(IntEnum):
    """The kind of a decision."""

    SELECT = 0
    CLEAR = 1
    PLAY = 2
    DISCARD = 3
    SELECT_BLIND = 4
    SKIP_BLIND = 5
    REROLL_BOSS = 6
    CASH_OUT = 7
    REROLL = 8
    NEXT_ROUND = 9
    SKIP_PACK = 10
    SORT_HAND = 11
    BUY = 12
    BUY_AND_USE = 13
    BUY_VOUCHER = 14
    OPEN_PACK = 15
    PICK = 16
    USE = 17
    SELL_CONSUMABLE = 18
    SELL_JOKER = 19
    MOVE_JOKER = 20
    MOVE_CARD = 21


N_VERBS = len(Verb)


def _table() -> tuple[np.ndarray, dict[Verb, int]]:
    """Return the (verb, target, to) rows of the discrete actions, and the first row of each verb."""
    slots = {
        Verb.SELECT: MAX_HAND,
        Verb.CLEAR: 1,
        Verb.PLAY: 1,
        Verb.DISCARD: 1,
        Verb.SELECT_BLIND: 1,
        Verb.SKIP_BLIND: 1,
        Verb.REROLL_BOSS: 1,
        Verb.CASH_OUT: 1,
        Verb.REROLL: 1,
        Verb.NEXT_ROUND: 1,
        Verb.SKIP_PACK: 1,
        Verb.SORT_HAND: 2,
        Verb.BUY: MAX_ROW,
        Verb.BUY_AND_USE: MAX_ROW,
        Verb.BUY_VOUCHER: MAX_SHOP_VOUCHERS,
        Verb.OPEN_PACK: MAX_PACKS,
        Verb.PICK: MAX_PACK,
        Verb.USE: SHOWN_CONSUMABLES,
        Verb.SELL_CONSUMABLE: SHOWN_CONSUMABLES,
        Verb.SELL_JOKER: MAX_JOKERS,
        Verb.MOVE_JOKER: MAX_JOKERS - 1,
        Verb.MOVE_CARD: MAX_HAND - 1,
    }
    rows: list[tuple[int, int, int]] = []
    first: dict[Verb, int] = {}
    for verb, count in slots.items():
        first[verb] = len(rows)
        for slot in range(count):
            if verb in (Verb.MOVE_JOKER, Verb.MOVE_CARD):
                rows.append((verb, slot, slot + 1))
            elif verb == Verb.SORT_HAND:
                rows.append((verb, 0, slot))
            else:
                rows.append((verb, slot, 0))
    return np.array(rows, dtype=np.int64), first


DISCRETE, FIRST = _table()
N_DISCRETE = len(DISCRETE)
TAKES_SELECTION = np.array(
    [row[0] in (Verb.PLAY, Verb.DISCARD, Verb.USE, Verb.PICK) for row in DISCRETE], dtype=np.uint8
)

F_CLEAR, F_PLAY, F_DISCARD = FIRST[Verb.CLEAR], FIRST[Verb.PLAY], FIRST[Verb.DISCARD]
F_SELECT_BLIND, F_SKIP_BLIND, F_REROLL_BOSS = FIRST[Verb.SELECT_BLIND], FIRST[Verb.SKIP_BLIND], FIRST[Verb.REROLL_BOSS]
F_CASH_OUT, F_REROLL, F_NEXT_ROUND = FIRST[Verb.CASH_OUT], FIRST[Verb.REROLL], FIRST[Verb.NEXT_ROUND]
F_SKIP_PACK, F_SORT, F_BUY, F_BUY_USE = (
    FIRST[Verb.SKIP_PACK],
    FIRST[Verb.SORT_HAND],
    FIRST[Verb.BUY],
    FIRST[Verb.BUY_AND_USE],
)
F_VOUCHER, F_OPEN, F_PICK, F_USE = FIRST[Verb.BUY_VOUCHER], FIRST[Verb.OPEN_PACK], FIRST[Verb.PICK], FIRST[Verb.USE]
F_SELL_CONSUMABLE, F_SELL_JOKER = FIRST[Verb.SELL_CONSUMABLE], FIRST[Verb.SELL_JOKER]
F_MOVE_JOKER, F_MOVE_CARD = FIRST[Verb.MOVE_JOKER], FIRST[Verb.MOVE_CARD]


@rule
def pack_action(verb, target, to, cards):
    """Return the macro decision of these four parts, int64."""
    return int(verb) | (int(target) << 6) | (int(to) << 14) | (int(cards) << 22)


@rule
def verb_of(action):
    """Return the verb of a macro decision."""
    return action & 63


@rule
def target_of(action):
    """Return the target slot of a macro decision."""
    return (action >> 6) & 255


@rule
def to_of(action):
    """Return the second slot of a macro decision."""
    return (action >> 14) & 255


@rule
def cards_of(action):
    """Return the hand positions of a macro decision, as bits."""
    return (action >> 22) & 0xFFFFFF


@rule
def to_macro(s, index):
    """Return the macro decision of discrete action `index` in the current state, int64."""
    cards = int(s.selected) if TAKES_SELECTION[index] else 0
    return pack_action(DISCRETE[index, 0], DISCRETE[index, 1], DISCRETE[index, 2], cards)


@rule
def count_bits(bits):
    """Return the number of bits set."""
    n = 0
    while bits:
        bits &= bits - 1
        n += 1
    return n


@rule
def can_pay(s, price):
    """Return whether the money, including the debt that Credit Card allows, covers a price; 0 is always covered."""
    return price <= 0 or price <= int(s.dollars) + int(s.debt_allowed)


@rule
def holds_forced(s, cards):
    """Return whether the card set contains every card that Cerulean Bell forces."""
    for i in range(s.n_hand):
        if s.cards[s.hand[i]].forced and not (cards >> i) & 1:
            return False
    return True


@rule
def hand_set_legal(s, cards):
    """Return whether these hand positions can be played or discarded: 1 to 5 existing ones, all forced cards."""
    if s.phase != Phase.PLAY or cards <= 0 or cards >> int(s.n_hand):
        return False
    return count_bits(cards) <= MAX_PLAYED and holds_forced(s, cards)


@rule
def can_clear(s):
    """Return whether a card is selected that is not forced."""
    for i in range(s.n_hand):
        if (s.selected >> i) & 1 and not s.cards[s.hand[i]].forced:
            return True
    return False


@rule
def can_play(s, cards):
    """Return whether these hand positions can be played."""
    return s.hands_left > 0 and hand_set_legal(s, cards)


@rule
def can_discard(s, cards):
    """Return whether these hand positions can be discarded."""
    return s.discards_left > 0 and hand_set_legal(s, cards)


@rule
def can_reroll_boss(s):
    """Return whether the boss can be rerolled now."""
    return s.phase == Phase.BLIND_SELECT and can_pay(s, boss_reroll_price(s)) and boss_can_be_rerolled(s)


@rule
def has_room(s, item):
    """Return whether an item fits: the rules have a slot for it, and the table is not full."""
    negative = item.edition == Edition.NEGATIVE
    if item.kind == Kind.JOKER:
        return s.n_jokers < MAX_JOKERS and (negative or room_for_joker(s))
    if item.kind == Kind.CONSUMABLE:
        return s.n_consumables < MAX_CONSUMABLES and (negative or room_for_consumable(s))
    return item.kind == Kind.PLAYING_CARD and s.n_cards < MAX_CARDS


@rule
def can_buy(s, slot):
    """Return whether the shop card in this slot can be bought."""
    if s.phase != Phase.SHOP or slot >= s.n_row:
        return False
    item = s.row[slot]
    return item.kind != Kind.NONE and can_pay(s, shop_price(item)) and has_room(s, item)


@rule
def can_use(s, consumable, cards, freed):
    """Return whether a consumable can be used now on these hand positions.

    freed  consumable slots that using it frees: 1 if it is held and not Negative, else 0
    """
    return takes_cards(s, consumable, cards) and consumable_allowed(s, consumable, cards, freed)


@rule
def can_buy_and_use(s, slot):
    """Return whether the shop card in this slot is a consumable that can be used immediately."""
    if s.phase != Phase.SHOP or slot >= s.n_row:
        return False
    item = s.row[slot]
    return item.kind == Kind.CONSUMABLE and can_pay(s, shop_price(item)) and can_use(s, int(item.id), 0, 0)


@rule
def can_buy_voucher(s, slot):
    """Return whether the voucher in this slot of the shop can be redeemed."""
    if s.phase != Phase.SHOP or slot >= s.n_shop_vouchers or s.shop_vouchers[slot] == 0:
        return False
    return can_pay(s, voucher_price(s, int(s.shop_vouchers[slot])))


@rule
def can_open_pack(s, slot):
    """Return whether the booster pack in this slot can be bought."""
    if s.phase != Phase.SHOP or slot >= MAX_PACKS or s.packs[slot] < 0:
        return False
    return can_pay(s, pack_price(s, slot))


@rule
def can_pick(s, slot, cards):
    """Return whether the pack's card in this slot can be taken; a consumable is used at once on these positions."""
    if s.phase != Phase.PACK or slot >= s.n_pack:
        return False
    item = s.pack[slot]
    if item.kind == Kind.CONSUMABLE:
        return can_use(s, int(item.id), cards, 0)
    return has_room(s, item)


@rule
def can_use_slot(s, slot, cards):
    """Return whether the consumable held in this slot can be used on these hand positions."""
    if s.phase == Phase.OVER or slot >= s.n_consumables:
        return False
    return can_use_held(s, slot, cards)


@rule
def can_use_held(s, slot, cards):
    """Like can_use, for a held consumable: the slot that it frees counts as room."""
    item = s.consumables[slot]
    return can_use(s, int(item.id), cards, 0 if item.edition == Edition.NEGATIVE else 1)


@rule
def can_sell_joker(s, slot):
    """Return whether the joker in this slot can be sold: Eternal ones cannot."""
    return s.phase != Phase.OVER and slot < s.n_jokers and not s.jokers[slot].stickers & Sticker.ETERNAL


@rule
def can_move_joker(s, source, to):
    """Return whether the joker in one slot can be moved to another; pinned ones stay leftmost."""
    if source == to or source >= s.n_jokers or to >= s.n_jokers:
        return False
    return not s.jokers[min(source, to)].stickers & Sticker.PINNED


@rule
def has_hand(s):
    """Return whether the player has a hand: in a round, or drawn for an Arcana or Spectral pack."""
    return s.phase == Phase.PLAY or (s.phase == Phase.PACK and s.n_hand > 0)


@rule
def is_legal(s, action):
    """Return whether a macro decision is legal now."""
    verb, target, to, cards = verb_of(action), target_of(action), to_of(action), cards_of(action)
    if action < 0 or action >> 46:
        return False
    if verb == Verb.PLAY:
        return can_play(s, cards)
    if verb == Verb.DISCARD:
        return can_discard(s, cards)
    if verb == Verb.USE:
        return can_use_slot(s, target, cards)
    if verb == Verb.PICK:
        return can_pick(s, target, cards)
    if cards:
        return False
    if verb <= Verb.CLEAR:
        return is_selection_legal(s, verb, target)
    if verb <= Verb.SKIP_PACK:
        return is_plain_legal(s, verb)
    if verb <= Verb.OPEN_PACK:
        return is_shop_legal(s, verb, target, to)
    return is_owned_legal(s, verb, target, to)


@rule
def is_selection_legal(s, verb, target):
    """Return whether SELECT or CLEAR is legal."""
    if not has_hand(s):
        return False
    if verb == Verb.CLEAR:
        return can_clear(s)
    return target < s.n_hand and not (s.selected >> target) & 1 and count_bits(int(s.selected)) < MAX_PLAYED


@rule
def is_plain_legal(s, verb):
    """Return whether a verb without a target is legal."""
    if verb == Verb.SELECT_BLIND:
        return s.phase == Phase.BLIND_SELECT
    if verb == Verb.SKIP_BLIND:
        return s.phase == Phase.BLIND_SELECT and s.blind_on_deck < 2
    if verb == Verb.REROLL_BOSS:
        return can_reroll_boss(s)
    if verb == Verb.CASH_OUT:
        return s.phase == Phase.ROUND_END
    if verb == Verb.REROLL:
        return s.phase == Phase.SHOP and can_pay(s, reroll_price(s))
    if verb == Verb.NEXT_ROUND:
        return s.phase == Phase.SHOP
    return s.phase == Phase.PACK


@rule
def is_shop_legal(s, verb, target, to):
    """Return whether SORT_HAND or a decision in the shop is legal."""
    if verb == Verb.SORT_HAND:
        return has_hand(s) and to <= 1
    if verb == Verb.BUY:
        return can_buy(s, target)
    if verb == Verb.BUY_AND_USE:
        return can_buy_and_use(s, target)
    if verb == Verb.BUY_VOUCHER:
        return can_buy_voucher(s, target)
    return can_open_pack(s, target)


@rule
def is_owned_legal(s, verb, target, to):
    """Return whether selling or reordering is legal."""
    if verb == Verb.SELL_CONSUMABLE:
        return s.phase != Phase.OVER and target < s.n_consumables
    if verb == Verb.SELL_JOKER:
        return can_sell_joker(s, target)
    if verb == Verb.MOVE_JOKER:
        return s.phase != Phase.OVER and can_move_joker(s, target, to)
    if verb == Verb.MOVE_CARD:
        return has_hand(s) and target != to and target < s.n_hand and to < s.n_hand
    return False


@rule
def legal_mask(s, out):
    """Write the legal discrete actions: out is (N_DISCRETE,) uint8, overwritten with 0 and 1.

    The record is only read, so several threads may query one game concurrently while no thread plays in it.

    SPEED: each phase checks only its own verbs; checking all of them costs more than a step.
    """
    for i in range(N_DISCRETE):
        out[i] = 0
    if s.phase == Phase.OVER:
        return
    if has_hand(s):
        mask_hand(s, out)
    if s.phase == Phase.BLIND_SELECT:
        out[F_SELECT_BLIND] = 1
        out[F_SKIP_BLIND] = 1 if s.blind_on_deck < 2 else 0
        out[F_REROLL_BOSS] = 1 if can_reroll_boss(s) else 0
    elif s.phase == Phase.ROUND_END:
        out[F_CASH_OUT] = 1
    elif s.phase == Phase.SHOP:
        mask_shop(s, out)
    elif s.phase == Phase.PACK:
        out[F_SKIP_PACK] = 1
        for i in range(s.n_pack):
            out[F_PICK + i] = 1 if can_pick(s, i, int(s.selected)) else 0
    mask_owned(s, out)


@rule
def mask_hand(s, out):
    """Write the legality of selecting, playing, discarding and ordering cards."""
    chosen = count_bits(int(s.selected))
    if chosen < MAX_PLAYED:
        for i in range(s.n_hand):
            out[i] = 1 - ((s.selected >> i) & 1)
    out[F_CLEAR] = 1 if can_clear(s) else 0
    if chosen and s.phase == Phase.PLAY:
        legal = hand_set_legal(s, int(s.selected))
        out[F_PLAY] = 1 if legal and s.hands_left > 0 else 0
        out[F_DISCARD] = 1 if legal and s.discards_left > 0 else 0
    out[F_SORT] = 1
    out[F_SORT + 1] = 1
    for i in range(s.n_hand - 1):
        out[F_MOVE_CARD + i] = 1


@rule
def mask_shop(s, out):
    """Write the legality of decisions in the shop."""
    out[F_NEXT_ROUND] = 1
    out[F_REROLL] = 1 if can_pay(s, reroll_price(s)) else 0
    for i in range(s.n_row):
        out[F_BUY + i] = 1 if can_buy(s, i) else 0
        out[F_BUY_USE + i] = 1 if can_buy_and_use(s, i) else 0
    for i in range(s.n_shop_vouchers):
        out[F_VOUCHER + i] = 1 if can_buy_voucher(s, i) else 0
    for i in range(MAX_PACKS):
        out[F_OPEN + i] = 1 if can_open_pack(s, i) else 0


@rule
def mask_owned(s, out):
    """Write the legality of using, selling and ordering owned items."""
    for i in range(min(SHOWN_CONSUMABLES, int(s.n_consumables))):
        out[F_USE + i] = 1 if can_use_held(s, i, int(s.selected)) else 0
        out[F_SELL_CONSUMABLE + i] = 1
    for i in range(s.n_jokers):
        out[F_SELL_JOKER + i] = 0 if s.jokers[i].stickers & Sticker.ETERNAL else 1
    for i in range(s.n_jokers - 1):
        out[F_MOVE_JOKER + i] = 0 if s.jokers[i].stickers & Sticker.PINNED else 1
