"""Structured legal decisions: targets of verbs, numbers of cards that they take, and lists of all decisions.

SELECT and CLEAR exist only as discrete actions and are not included.
"""

from ante.engine.actions import (
    DISCRETE,
    N_DISCRETE,
    N_VERBS,
    Verb,
    can_pick,
    can_use_slot,
    hand_set_legal,
    has_hand,
    is_legal,
    pack_action,
)
from ante.engine.core.rule import rule
from ante.engine.core.state import MAX_HAND, MAX_PLAYED, Kind
from ante.engine.core.tables import C_MAX_CARDS, C_MIN_CARDS


@rule
def next_set(cards):
    """Return the next larger number with the same number of bits set."""
    lowest = cards & -cards
    carried = cards + lowest
    return (((carried ^ cards) >> 2) // lowest) | carried


@rule
def takes_cards(verb):
    """Return whether a verb acts on hand cards."""
    return verb == Verb.PLAY or verb == Verb.DISCARD or verb == Verb.USE or verb == Verb.PICK


@rule
def cards_wanted(s, verb, target):
    """Return the minimum and maximum hand cards of this verb and target, (0, 0) for none; `is_legal` checks which."""
    if verb == Verb.PLAY or verb == Verb.DISCARD:
        return 1, min(MAX_PLAYED, int(s.n_hand))
    consumable = 0
    if verb == Verb.USE and target < s.n_consumables:
        consumable = int(s.consumables[target].id)
    elif verb == Verb.PICK and target < s.n_pack and s.pack[target].kind == Kind.CONSUMABLE:
        consumable = int(s.pack[target].id)
    if consumable == 0 or C_MAX_CARDS[consumable] == 0:
        return 0, 0
    return max(1, int(C_MIN_CARDS[consumable])), min(int(C_MAX_CARDS[consumable]), int(s.n_hand))


@rule
def is_set_legal(s, verb, target, cards):
    """Return whether a verb that acts on hand cards can take this set."""
    if verb == Verb.PLAY:
        return s.hands_left > 0 and hand_set_legal(s, cards)
    if verb == Verb.DISCARD:
        return s.discards_left > 0 and hand_set_legal(s, cards)
    if verb == Verb.USE:
        return can_use_slot(s, target, cards)
    return can_pick(s, target, cards)


@rule
def write_sets(s, verb, target, out, n):
    """Append the decisions of one verb and target, one per card set, after n others. Returns the new number."""
    if is_set_legal(s, verb, target, 0):
        return append(out, n, pack_action(verb, target, 0, 0))  # cards are ignored if none are needed
    if not has_hand(s):
        return n
    for size in range(1, 1 + min(MAX_PLAYED, int(s.n_hand))):
        cards = (1 << size) - 1
        while cards < 1 << int(s.n_hand):
            if is_set_legal(s, verb, target, cards):
                n = append(out, n, pack_action(verb, target, 0, cards))
            cards = next_set(cards)
    return n


@rule
def append(out, n, action):
    """Write a decision at place n if it fits. Returns n + 1."""
    if n < len(out):
        out[n] = action
    return n + 1


@rule
def legal_decisions(s, out):
    """Write every legal macro decision, each once. Returns their number, which may exceed the size of `out`.

    out  (k,) int64, overwritten up to that number; (0,) only counts
    """
    n = write_sets(s, Verb.PLAY, 0, out, 0)
    n = write_sets(s, Verb.DISCARD, 0, out, n)
    for slot in range(s.n_consumables):
        n = write_sets(s, Verb.USE, slot, out, n)
    for slot in range(s.n_pack):
        n = write_sets(s, Verb.PICK, slot, out, n)
    for i in range(N_DISCRETE):
        verb = DISCRETE[i, 0]
        if verb > Verb.CLEAR and not takes_cards(verb) and verb < Verb.MOVE_JOKER and verb != Verb.SELL_CONSUMABLE:
            action = pack_action(verb, DISCRETE[i, 1], DISCRETE[i, 2], 0)
            if is_legal(s, action):
                n = append(out, n, action)
    for slot in range(s.n_consumables):
        if is_legal(s, pack_action(Verb.SELL_CONSUMABLE, slot, 0, 0)):
            n = append(out, n, pack_action(Verb.SELL_CONSUMABLE, slot, 0, 0))
    n = write_moves(s, Verb.MOVE_JOKER, int(s.n_jokers), out, n)
    return write_moves(s, Verb.MOVE_CARD, int(s.n_hand), out, n)


@rule
def write_moves(s, verb, count, out, n):
    """Append every legal move of one of `count` items to another place."""
    for source in range(count):
        for to in range(count):
            action = pack_action(verb, source, to, 0)
            if is_legal(s, action):
                n = append(out, n, action)
    return n


@rule
def legal_targets(s, out):
    """Write which verb can act on which target, with suitable cards or a second slot: out (N_VERBS, MAX_HAND) uint8.

    Only the SHOWN_CONSUMABLES leftmost consumables are listed. Verbs without a target have target 0. Overwrites `out`.
    """
    for verb in range(N_VERBS):
        for target in range(MAX_HAND):
            out[verb, target] = 0
    for i in range(N_DISCRETE):
        verb, target, to = DISCRETE[i, 0], DISCRETE[i, 1], DISCRETE[i, 2]
        if takes_cards(verb):
            out[verb, target] = has_set(s, verb, target)
        elif verb > Verb.CLEAR and is_legal(s, pack_action(verb, target, to, 0)):
            out[verb, target] = 1
            if verb == Verb.MOVE_JOKER or verb == Verb.MOVE_CARD:
                out[verb, to] = 1


@rule
def has_set(s, verb, target):
    """Return 1 if some card set makes this verb and target legal, else 0."""
    if is_set_legal(s, verb, target, 0):
        return 1
    if not has_hand(s):
        return 0
    least, most = cards_wanted(s, verb, target)
    for size in range(max(1, least), most + 1):
        cards = (1 << size) - 1
        while cards < 1 << int(s.n_hand):
            if is_set_legal(s, verb, target, cards):
                return 1
            cards = next_set(cards)
    return 0
