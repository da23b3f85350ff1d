"""Makers of cards, with their draws in the game's order.

Every maker writes the new card into `s.made` and adds its key to the set of used items.
"""

from ante.catalog.cards import Edition, Enhancement, Sticker
from ante.catalog.challenges import Modifier
from ante.catalog.constants import ETERNAL_POLL, PERISHABLE_ROUNDS, RENTAL_POLL
from ante.catalog.consumables import Consumable
from ante.catalog.decks import Stake
from ante.catalog.hands import Hand
from ante.catalog.jokers import COMMON, LEGENDARY, RARE, UNCOMMON, Joker
from ante.catalog.locks import CONSUMABLE_LOCKS
from ante.catalog.shop import SOUL_ABOVE, SURE_EDITION_TIMES
from ante.engine.core.rng import Stream, pick, roll
from ante.engine.core.rule import rule
from ante.engine.core.state import CONSUMABLE_KEYS, N_HANDS, Kind, Rule
from ante.engine.core.tables import (
    EDITION_SHARE,
    FRONT_RANK,
    FRONT_SUIT,
    HAND_VISIBLE,
    J_COUNT,
    J_ETERNAL,
    J_PERISHABLE,
    J_START,
    PERISHABLE_ABOVE,
    PERISHABLE_UP_TO,
    RARE_ABOVE,
    UNCOMMON_ABOVE,
)
from ante.engine.items.pools import barred, draw_joker, draw_planet, draw_spectral, draw_tarot
from ante.engine.items.prices import price
from ante.engine.items.sources import (
    EDITION_STREAM,
    ENHANCED_STREAM,
    FIXED_RARITY,
    FRONT_STREAM,
    JOKER_STREAM,
    PLANET_STREAM,
    RARITY_STREAM,
    SPECTRAL_STREAM,
    TAROT_STREAM,
    JokerSource,
)
from ante.engine.items.vouchers import edition_rate

N_ENHANCEMENTS = len(Enhancement) - 1
N_FRONTS = len(FRONT_RANK)


@rule
def edition_of(u, rate, m, negative):
    """Return the edition for a roll `u`; `rate` is edition_rate, which does not scale Negative."""
    if negative and u > 1.0 - EDITION_SHARE[Edition.NEGATIVE] * m:
        return int(Edition.NEGATIVE)
    if u > 1.0 - EDITION_SHARE[Edition.POLYCHROME] * rate * m:
        return int(Edition.POLYCHROME)
    if u > 1.0 - EDITION_SHARE[Edition.HOLO] * rate * m:
        return int(Edition.HOLO)
    return int(Edition.FOIL) if u > 1.0 - EDITION_SHARE[Edition.FOIL] * rate * m else int(Edition.NONE)


@rule
def roll_edition(s, stream, m, negative):
    """Return the edition drawn on `stream`, with its odds times m."""
    return edition_of(roll(s, stream), edition_rate(s), m, negative)


@rule
def roll_sure_edition(s, stream):
    """Return an edition drawn on `stream` that is always Foil, Holographic or Polychrome."""
    return edition_of(roll(s, stream), SURE_EDITION_TIMES, 1.0, False)


@rule
def clear_item(item):
    """Clear all fields of an item."""
    item.kind = 0
    item.edition = 0
    item.stickers = 0
    item.debuffed = 0
    item.enhancement = 0
    item.seal = 0
    item.rank = 0
    item.suit = 0
    item.id = 0
    item.cost = 0
    item.extra_sell = 0
    item.rounds = 0
    item.hand = 0
    item.created = 0
    item.count = 0
    item.value = 0.0


@rule
def remove_item(items, place, n):
    """Remove the item at this place from a list of n and move up those behind it."""
    for i in range(place, n - 1):
        items[i] = items[i + 1]
    clear_item(items[n - 1])


@rule
def begin_item(s, kind, number):
    """Make s.made a new card of this kind and number, with the next creation number, and mark it as used."""
    item = s.made
    clear_item(item)
    item.kind = kind
    item.id = number
    if kind == Kind.PLAYING_CARD:
        s.cards_made += 1
        item.created = s.cards_made
    else:
        s.created += 1
        item.created = s.created
    if kind == Kind.JOKER:
        s.used[number] = 1
    elif kind == Kind.CONSUMABLE:
        s.used[CONSUMABLE_KEYS + number] = 1


@rule
def make_joker(s, source, place_shop, place_pack):
    """Draw a joker of this source into s.made. Only the shop and packs add stickers."""
    source = int(source)
    rarity = int(FIXED_RARITY[source])
    if rarity == 0:
        u = roll(s, RARITY_STREAM[source])
        rarity = RARE if u > RARE_ABOVE else (UNCOMMON if u > UNCOMMON_ABOVE else COMMON)
    if source == JokerSource.SOU:
        rarity = LEGENDARY
    make_given_joker(s, draw_joker(s, JOKER_STREAM[source, rarity], rarity))
    if place_shop or place_pack:
        roll_stickers(s, place_pack)
    if s.modifiers & Modifier.ALL_ETERNAL:
        make_eternal(s.made)
    s.made.edition = roll_edition(s, EDITION_STREAM[source], 1.0, True)
    price(s, s.made)


@rule
def make_eternal(item):
    """Make the joker Eternal, if its kind can be and it is not Perishable."""
    if J_ETERNAL[item.id] and not item.stickers & Sticker.PERISHABLE:
        item.stickers |= int(Sticker.ETERNAL)


@rule
def make_given_joker(s, joker):
    """Make a plain copy of a given joker in s.made, with the counters of a new one."""
    begin_item(s, int(Kind.JOKER), joker)
    s.made.value = J_START[joker]
    s.made.count = J_COUNT[joker]
    if joker == Joker.TODO_LIST:
        s.made.hand = pick_visible_hand(s, int(Stream.TO_DO), -1)
    price(s, s.made)


@rule
def pick_visible_hand(s, stream, without):
    """Return a random hand that is visible to the player, in definition order, except `without` (-1 for none)."""
    n = 0
    for hand in range(N_HANDS):
        if (HAND_VISIBLE[hand] or s.plays[hand] > 0) and hand != without:
            n += 1
    k = pick(s, stream, n)
    for hand in range(N_HANDS):
        if (HAND_VISIBLE[hand] or s.plays[hand] > 0) and hand != without:
            if k == 0:
                return hand
            k -= 1
    return int(Hand.HIGH_CARD)


@rule
def roll_stickers(s, in_pack):
    """Roll Eternal, Perishable and Rental for the joker in s.made, as the stake allows."""
    item = s.made
    u = roll(s, Stream.PACKETPER) if in_pack else roll(s, Stream.ETPERPOLL)
    if s.stake >= Stake.BLACK and u > ETERNAL_POLL:
        if J_ETERNAL[item.id]:
            item.stickers |= int(Sticker.ETERNAL)
    elif s.stake >= Stake.ORANGE and PERISHABLE_ABOVE < u <= PERISHABLE_UP_TO and J_PERISHABLE[item.id]:
        item.stickers |= int(Sticker.PERISHABLE)
        item.rounds = PERISHABLE_ROUNDS
    if s.stake >= Stake.GOLD:
        rental = roll(s, Stream.PACKSSJR) if in_pack else roll(s, Stream.SSJR)
        if rental > RENTAL_POLL:
            item.stickers |= int(Sticker.RENTAL)


@rule
def make_given_consumable(s, consumable):
    """Make a given consumable in s.made."""
    begin_item(s, int(Kind.CONSUMABLE), consumable)
    price(s, s.made)


@rule
def special_allowed(s, consumable):
    """Return whether The Soul or Black Hole is rolled for: not while one exists, unless Showman works.

    A challenge that bans The Soul removes both rolls.
    """
    if barred(s, CONSUMABLE_LOCKS + int(Consumable.SOUL)):
        return False
    return not s.used[CONSUMABLE_KEYS + int(consumable)] or (s.rules & Rule.SHOWMAN) != 0


@rule
def make_tarot(s, source, soulable):
    """Draw a Tarot of this source into s.made; in packs it may be The Soul."""
    source = int(source)
    if soulable and special_allowed(s, Consumable.SOUL) and roll(s, Stream.SOUL_TAROT) > SOUL_ABOVE:
        make_given_consumable(s, int(Consumable.SOUL))
    else:
        make_given_consumable(s, draw_tarot(s, TAROT_STREAM[source]))


@rule
def make_planet(s, source, soulable):
    """Draw a Planet of this source into s.made; in packs it may be Black Hole."""
    source = int(source)
    if soulable and special_allowed(s, Consumable.BLACK_HOLE) and roll(s, Stream.SOUL_PLANET) > SOUL_ABOVE:
        make_given_consumable(s, int(Consumable.BLACK_HOLE))
    else:
        make_given_consumable(s, draw_planet(s, PLANET_STREAM[source]))


@rule
def make_spectral(s, source, soulable):
    """Draw a Spectral of this source into s.made. In packs both special cards are rolled; Black Hole has precedence."""
    source = int(source)
    forced = 0
    if soulable:
        if special_allowed(s, Consumable.SOUL) and roll(s, Stream.SOUL_SPECTRAL) > SOUL_ABOVE:
            forced = int(Consumable.SOUL)
        if special_allowed(s, Consumable.BLACK_HOLE) and roll(s, Stream.SOUL_SPECTRAL) > SOUL_ABOVE:
            forced = int(Consumable.BLACK_HOLE)
    make_given_consumable(s, forced if forced else draw_spectral(s, SPECTRAL_STREAM[source]))


@rule
def make_playing_card(s, source, enhanced):
    """Draw a playing card of this source into s.made: its enhancement, if any, then its rank and suit."""
    source = int(source)
    enhancement = 0
    if enhanced:
        enhancement = 1 + pick(s, ENHANCED_STREAM[source], N_ENHANCEMENTS)
    front = pick(s, FRONT_STREAM[source], N_FRONTS)
    begin_item(s, int(Kind.PLAYING_CARD), front)
    s.made.enhancement = enhancement
    s.made.suit = FRONT_SUIT[front]
    s.made.rank = FRONT_RANK[front]
    price(s, s.made)
