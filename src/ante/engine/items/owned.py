"""The jokers and consumables of a player: free slots, adding, removing, creating and copying."""

from ante.catalog.cards import Edition, Sticker
from ante.engine.core.rng import pick
from ante.engine.core.rule import rule
from ante.engine.core.state import CONSUMABLE_KEYS, FREE, MAX_CONSUMABLES, MAX_JOKERS, Kind, Table
from ante.engine.core.tables import EDITION_SLOTS, PLANET_OF_HAND
from ante.engine.items.making import (
    make_given_consumable,
    make_joker,
    make_planet,
    make_spectral,
    make_tarot,
    remove_item,
)
from ante.engine.items.prices import price


@rule
def release(s, kind, number):
    """Remove a card's key from the set of used items, unless a copy is still owned."""
    if kind == Kind.JOKER:
        for i in range(s.n_jokers):
            if s.jokers[i].id == number:
                return
        s.used[number] = 0
    elif kind == Kind.CONSUMABLE:
        for i in range(s.n_consumables):
            if s.consumables[i].id == number:
                return
        s.used[CONSUMABLE_KEYS + number] = 0


@rule
def negatives(items, n):
    """Return the number of slots that the Negative ones among the first n items add."""
    slots = 0
    for i in range(n):
        slots += EDITION_SLOTS[items[i].edition]
    return slots


@rule
def room_for_joker(s):
    """Return whether the rules allow one more joker that is not Negative. The table may still be full."""
    staying = int(s.n_jokers) - int(s.joker_buffer)
    return staying < s.joker_slots + negatives(s.jokers, s.n_jokers)


@rule
def free_consumable_slots(s):
    """Return how many more consumables that are not Negative the rules allow. The table may still be full."""
    return int(s.consumable_slots) + negatives(s.consumables, s.n_consumables) - int(s.n_consumables)


@rule
def room_for_consumable(s):
    """Return whether the rules allow one more consumable that is not Negative."""
    return free_consumable_slots(s) > 0


@rule
def add_joker_from_item(s, item):
    """Add the item as the rightmost joker. If the table is full, it is lost and `s.overflows` counts it."""
    if s.n_jokers >= MAX_JOKERS:
        s.overflows[Table.JOKERS] += 1
        release(s, int(Kind.JOKER), int(item.id))
        return
    s.jokers[s.n_jokers] = item
    s.jokers[s.n_jokers].stickers &= ~FREE
    s.n_jokers += 1
    s.used[item.id] = 1
    s.lineup_stale = 1


@rule
def add_consumable_from_item(s, item):
    """Add the item as the rightmost consumable. If the table is full, it is lost and `s.overflows` counts it."""
    if s.n_consumables >= MAX_CONSUMABLES:
        s.overflows[Table.CONSUMABLES] += 1
        release(s, int(Kind.CONSUMABLE), int(item.id))
        return
    s.consumables[s.n_consumables] = item
    s.consumables[s.n_consumables].stickers &= ~FREE
    s.n_consumables += 1
    s.used[CONSUMABLE_KEYS + item.id] = 1


@rule
def pick_joker(s, stream, slots):
    """Return the slot of a random joker among `slots` (bits), drawn by creation number. Returns -1 for no slots."""
    n = 0
    for i in range(s.n_jokers):
        n += (slots >> i) & 1
    if n == 0:
        return -1
    k = pick(s, stream, n)
    for i in range(s.n_jokers):
        if (slots >> i) & 1:
            older = 0
            for j in range(s.n_jokers):
                if (slots >> j) & 1 and s.jokers[j].created < s.jokers[i].created:
                    older += 1
            if older == k:
                return i
    return -1


@rule
def remove_joker(s, slot):
    """Remove the joker in this slot and move up those to its right."""
    joker = int(s.jokers[slot].id)
    remove_item(s.jokers, slot, int(s.n_jokers))
    s.n_jokers -= 1
    release(s, int(Kind.JOKER), joker)
    s.lineup_stale = 1


@rule
def remove_consumable(s, slot):
    """Remove the consumable in this slot and move up those to its right."""
    consumable = int(s.consumables[slot].id)
    remove_item(s.consumables, slot, int(s.n_consumables))
    s.n_consumables -= 1
    release(s, int(Kind.CONSUMABLE), consumable)


@rule
def keep_pinned_left(s):
    """Move pinned jokers to the left of all others, the youngest first."""
    for i in range(1, s.n_jokers):
        j = i
        while j > 0 and belongs_left(s.jokers[j], s.jokers[j - 1]):
            s.made = s.jokers[j]
            s.jokers[j] = s.jokers[j - 1]
            s.jokers[j - 1] = s.made
            j -= 1


@rule
def belongs_left(joker, other):
    """Return whether a joker belongs to the left of another one."""
    if not joker.stickers & Sticker.PINNED:
        return False
    return not other.stickers & Sticker.PINNED or joker.created > other.created


@rule
def create_joker(s, source):
    """Create a joker of this source, if there is room. Returns whether there was."""
    if not room_for_joker(s):
        return False
    make_joker(s, source, False, False)
    add_joker_from_item(s, s.made)
    return True


@rule
def create_tarot(s, source):
    """Create a Tarot of this source, if there is room. Returns whether there was."""
    if not room_for_consumable(s):
        return False
    make_tarot(s, source, False)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_planet(s, source):
    """Create a Planet of this source, if there is room. Returns whether there was."""
    if not room_for_consumable(s):
        return False
    make_planet(s, source, False)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_spectral(s, source):
    """Create a Spectral of this source, if there is room. Returns whether there was."""
    if not room_for_consumable(s):
        return False
    make_spectral(s, source, False)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_given_consumable(s, consumable):
    """Create a given consumable, if there is room. Returns whether there was."""
    if not room_for_consumable(s):
        return False
    make_given_consumable(s, consumable)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_planet_of(s, hand):
    """Create the Planet of a hand, if there is room. Returns whether there was."""
    return create_given_consumable(s, int(PLANET_OF_HAND[hand]))


@rule
def copy_joker(s, slot, strip_negative):
    """Add a copy of the joker in this slot at the right."""
    s.made = s.jokers[slot]
    s.created += 1
    s.made.created = s.created
    if strip_negative and s.made.edition == Edition.NEGATIVE:
        s.made.edition = 0
        price(s, s.made)
    add_joker_from_item(s, s.made)
