"""How a card comes into being: its draws in the game's order, its price, and its place among what is owned.

Every maker writes the new card into `s.made` and its key into the used set.
"""

from enum import IntEnum

import numpy as np

from ante.catalog.cards import Edition, Sticker
from ante.catalog.challenges import Modifier
from ante.catalog.consumables import Consumable, Set
from ante.catalog.decks import Stake
from ante.catalog.jokers import LEGENDARY, Joker
from ante.catalog.locks import CONSUMABLE_LOCKS
from ante.catalog.vouchers import Voucher
from ante.engine.numbers import (
    C_COST,
    C_SET,
    EDITION_COST,
    FRONT_RANK,
    FRONT_SUIT,
    HAND_VISIBLE,
    J_COST,
    J_ETERNAL,
    J_PERISHABLE,
    PLANET_OF_HAND,
)
from ante.engine.pools import FIRST_CONSUMABLE, barred, draw_joker, draw_planet, draw_spectral, draw_tarot
from ante.engine.rng import Stream, pick, roll
from ante.engine.rule import rule
from ante.engine.state import FREE, MAX_CARDS, MAX_CONSUMABLES, MAX_HAND, MAX_JOKERS, Kind, Place, Rule


class Source(IntEnum):
    """Where a card comes from: the suffix of its stream keys."""

    SHO = 0  # shop row
    BUF = 1  # Buffoon pack
    JUD = 2  # Judgement
    WRA = 3  # Wraith
    SOU = 4  # The Soul
    RIF = 5  # Riff-Raff
    UTA = 6  # Uncommon Tag
    RTA = 7  # Rare Tag
    TOP = 8  # Top-up Tag
    AR1 = 9  # Arcana pack
    AR2 = 10  # Arcana pack, Omen Globe
    EMP = 11  # The Emperor
    EIGHT_BALL = 12  # 8 Ball, Purple Seal
    VAG = 13  # Vagabond
    SUP = 14  # Superposition
    CAR = 15  # Cartomancer
    HAL = 16  # Hallucination
    PL1 = 17  # Celestial pack
    PRI = 18  # The High Priestess
    SPE = 19  # Spectral pack
    SEA = 20  # Seance
    SIXTH = 21  # Sixth Sense
    STA = 22  # Standard pack


def _streams(pattern: str) -> np.ndarray:
    """Stream number per Source, -1 where that source makes no such card."""
    names = {source: "8BA" if source is Source.EIGHT_BALL else source.name for source in Source}
    return np.array([Stream.__members__.get(pattern.format(names[source]), -1) for source in Source], dtype=np.int64)


RARITY_STREAM = _streams("RARITY_{}")
JOKER_STREAM = np.array([_streams("-")] + [_streams(f"JOKER{rarity}_{{}}") for rarity in (1, 2, 3)])
EDITION_STREAM = _streams("EDI_{}")
TAROT_STREAM = _streams("TAROT_{}")
PLANET_STREAM = _streams("PLANET_{}")
SPECTRAL_STREAM = _streams("SPECTRAL_{}")
ENHANCED_STREAM = _streams("ENHANCED_{}")
FRONT_STREAM = _streams("FRONT_{}")
# Fixed rarity number of a source that does not draw it, -1 = drawn.
FIXED_RARITY = np.array(
    [{"WRA": 0.99, "RIF": 0.0, "UTA": 0.9, "RTA": 1.0, "TOP": 0.0}.get(source.name, -1.0) for source in Source]
)
RARE_ABOVE, UNCOMMON_ABOVE = 0.95, 0.7
SOUL_ABOVE = 0.997
ETERNAL_ABOVE, PERISHABLE_ABOVE, RENTAL_ABOVE = 0.7, 0.4, 0.7
PERISHABLE_ROUNDS = 5
N_ENHANCEMENTS = 8

# What a joker shows when it is new, and its second memory.
START_VALUE = np.zeros(151)
START_COUNT = np.zeros(151, dtype=np.int64)
for _joker, _start in {
    Joker.ICE_CREAM: 100.0,
    Joker.POPCORN: 20.0,
    Joker.RAMEN: 2.0,
    Joker.CONSTELLATION: 1.0,
    Joker.MADNESS: 1.0,
    Joker.VAMPIRE: 1.0,
    Joker.HOLOGRAM: 1.0,
    Joker.OBELISK: 1.0,
    Joker.LUCKY_CAT: 1.0,
    Joker.CAMPFIRE: 1.0,
    Joker.GLASS: 1.0,
    Joker.HIT_THE_ROAD: 1.0,
    Joker.CAINO: 1.0,
    Joker.YORICK: 1.0,
}.items():
    START_VALUE[_joker] = _start
for _joker, _count in {Joker.TURTLE_BEAN: 5, Joker.SELZER: 10, Joker.YORICK: 23, Joker.ROCKET: 1}.items():
    START_COUNT[_joker] = _count


@rule
def edition_rate(s):
    """How much more often editions come: 2 with Hone, 4 with Glow Up."""
    if s.vouchers[Voucher.GLOW_UP]:
        return 4.0
    return 2.0 if s.vouchers[Voucher.HONE] else 1.0


@rule
def edition_of(u, rate, m, negative):
    """The edition that a roll names; `rate` is edition_rate, Negative is not scaled by it."""
    if negative and u > 1.0 - 0.003 * m:
        return int(Edition.NEGATIVE)
    if u > 1.0 - 0.006 * rate * m:
        return int(Edition.POLYCHROME)
    if u > 1.0 - 0.02 * rate * m:
        return int(Edition.HOLO)
    return int(Edition.FOIL) if u > 1.0 - 0.04 * rate * m else int(Edition.NONE)


@rule
def roll_edition(s, stream, m, negative):
    """One edition poll on `stream`, its chances times m."""
    return edition_of(roll(s, stream), edition_rate(s), m, negative)


@rule
def roll_sure_edition(s, stream):
    """One edition poll that always gives Foil, Holographic or Polychrome."""
    return edition_of(roll(s, stream), 25.0, 1.0, False)


@rule
def clear_item(item):
    """An item with nothing in it."""
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
def begin_item(s, kind, number):
    """s.made is a fresh card of this kind and number, with the next creation number and its key in the used set."""
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
        s.used[FIRST_CONSUMABLE + number] = 1


@rule
def make_joker(s, source, place_shop, place_pack):
    """A joker of this source stands in s.made. Stickers come only in the shop and in packs."""
    source = int(source)
    u = FIXED_RARITY[source] if FIXED_RARITY[source] >= 0.0 else roll(s, RARITY_STREAM[source])
    if source == Source.SOU:
        joker = draw_joker(s, int(Stream.JOKER4), LEGENDARY)
    else:
        rarity = 3 if u > RARE_ABOVE else (2 if u > UNCOMMON_ABOVE else 1)
        joker = draw_joker(s, JOKER_STREAM[rarity, source], rarity)
    make_given_joker(s, joker)
    if place_shop or place_pack:
        roll_stickers(s, place_pack)
    if s.modifiers & Modifier.ALL_ETERNAL:
        make_eternal(s.made)
    s.made.edition = roll_edition(s, EDITION_STREAM[source], 1.0, True)
    price(s, s.made)


@rule
def make_eternal(item):
    """The joker is Eternal, if its kind can be and it is not Perishable."""
    if J_ETERNAL[item.id] and not item.stickers & Sticker.PERISHABLE:
        item.stickers |= int(Sticker.ETERNAL)


@rule
def make_given_joker(s, joker):
    """A plain copy of a given joker stands in s.made, with the memory of a new one."""
    begin_item(s, int(Kind.JOKER), joker)
    s.made.value = START_VALUE[joker]
    s.made.count = START_COUNT[joker]
    if joker == Joker.TODO_LIST:
        s.made.hand = pick_visible_hand(s, int(Stream.TO_DO), -1)
    price(s, s.made)


@rule
def pick_visible_hand(s, stream, without):
    """A random hand that the player knows of, in definition order, leaving out one (-1 for none)."""
    n = 0
    for hand in range(12):
        if (HAND_VISIBLE[hand] or s.plays[hand] > 0) and hand != without:
            n += 1
    k = pick(s, stream, n)
    for hand in range(12):
        if (HAND_VISIBLE[hand] or s.plays[hand] > 0) and hand != without:
            if k == 0:
                return hand
            k -= 1
    return 11


@rule
def roll_stickers(s, in_pack):
    """Eternal, Perishable and Rental of the joker in s.made, as the stake allows."""
    item = s.made
    u = roll(s, Stream.PACKETPER) if in_pack else roll(s, Stream.ETPERPOLL)
    if s.stake >= Stake.BLACK and u > ETERNAL_ABOVE:
        if J_ETERNAL[item.id]:
            item.stickers |= int(Sticker.ETERNAL)
    elif s.stake >= Stake.ORANGE and PERISHABLE_ABOVE < u <= ETERNAL_ABOVE and J_PERISHABLE[item.id]:
        item.stickers |= int(Sticker.PERISHABLE)
        item.rounds = PERISHABLE_ROUNDS
    if s.stake >= Stake.GOLD:
        rental = roll(s, Stream.PACKSSJR) if in_pack else roll(s, Stream.SSJR)
        if rental > RENTAL_ABOVE:
            item.stickers |= int(Sticker.RENTAL)


@rule
def make_given_consumable(s, consumable):
    """A given consumable stands in s.made."""
    begin_item(s, int(Kind.CONSUMABLE), consumable)
    price(s, s.made)


@rule
def special_allowed(s, consumable):
    """Whether the roll for The Soul or Black Hole takes place: not while one exists, unless Showman works.

    A challenge that bans The Soul takes both rolls away.
    """
    if barred(s, CONSUMABLE_LOCKS + int(Consumable.SOUL)):
        return False
    return not s.used[FIRST_CONSUMABLE + int(consumable)] or (s.rules & Rule.SHOWMAN) != 0


@rule
def make_tarot(s, source, soulable):
    """A tarot of this source stands in s.made; in packs it may turn out to be The Soul."""
    source = int(source)
    if soulable and special_allowed(s, Consumable.SOUL) and roll(s, Stream.SOUL_TAROT) > SOUL_ABOVE:
        make_given_consumable(s, int(Consumable.SOUL))
    else:
        make_given_consumable(s, draw_tarot(s, TAROT_STREAM[source]))


@rule
def make_planet(s, source, soulable):
    """A planet of this source stands in s.made; in packs it may turn out to be Black Hole."""
    source = int(source)
    if soulable and special_allowed(s, Consumable.BLACK_HOLE) and roll(s, Stream.SOUL_PLANET) > SOUL_ABOVE:
        make_given_consumable(s, int(Consumable.BLACK_HOLE))
    else:
        make_given_consumable(s, draw_planet(s, PLANET_STREAM[source]))


@rule
def make_spectral(s, source, soulable):
    """A spectral of this source stands in s.made; in packs both special cards have their roll, Black Hole wins."""
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
    """A playing card of this source stands in s.made: its enhancement, if any, then its front."""
    source = int(source)
    enhancement = 0
    if enhanced:
        enhancement = 1 + int(roll(s, ENHANCED_STREAM[source]) * N_ENHANCEMENTS)
    front = pick(s, FRONT_STREAM[source], 52)
    begin_item(s, int(Kind.PLAYING_CARD), front)
    s.made.enhancement = enhancement
    s.made.suit = FRONT_SUIT[front]
    s.made.rank = FRONT_RANK[front]
    price(s, s.made)


@rule
def discounted(s, base):
    """A base price with inflation, under Clearance Sale or Liquidation, never below $1."""
    discount = 50 if s.vouchers[Voucher.LIQUIDATION] else (25 if s.vouchers[Voucher.CLEARANCE_SALE] else 0)
    return max(1, int((base + s.inflation + 0.5) * (100 - discount) / 100))


@rule
def price(s, item):
    """The item carries its present price."""
    if item.kind == Kind.JOKER:
        base = J_COST[item.id]
    elif item.kind == Kind.CONSUMABLE:
        base = C_COST[item.id]
    else:
        base = 1
    item.cost = discounted(s, int(base + EDITION_COST[item.edition]))
    if item.stickers & Sticker.RENTAL:
        item.cost = 1
    if item.kind == Kind.CONSUMABLE and C_SET[item.id] == Set.PLANET and s.rules & Rule.ASTRONOMER:
        item.cost = 0


@rule
def reprice_all(s):
    """Everything owned and on sale has its present price; what a tag made free stays free."""
    for i in range(s.n_jokers):
        price(s, s.jokers[i])
    for i in range(s.n_consumables):
        price(s, s.consumables[i])
    for i in range(s.n_row):
        price(s, s.row[i])


@rule
def inflate(s):
    """Something was bought, a pack opened or a voucher redeemed: with inflation every price rises by $1."""
    if s.modifiers & Modifier.INFLATION:
        s.inflation += 1
        reprice_all(s)


@rule
def shop_price(item):
    """Dollars that a card of the shop row costs."""
    return 0 if item.stickers & FREE else int(item.cost)


@rule
def sell_value(item):
    """Dollars that selling an item brings."""
    return max(1, int(item.cost) // 2) + int(item.extra_sell)


@rule
def release(s, kind, number):
    """A card's key leaves the used set, unless a copy is still owned."""
    if kind == Kind.JOKER:
        for i in range(s.n_jokers):
            if s.jokers[i].id == number:
                return
        s.used[number] = 0
    elif kind == Kind.CONSUMABLE:
        for i in range(s.n_consumables):
            if s.consumables[i].id == number:
                return
        s.used[FIRST_CONSUMABLE + number] = 0


@rule
def negatives(items, n):
    """How many of the first n items are Negative: each brings its own slot."""
    count = 0
    for i in range(n):
        if items[i].edition == Edition.NEGATIVE:
            count += 1
    return count


@rule
def room_for_joker(s):
    """Whether one more joker that is not Negative fits."""
    staying = int(s.n_jokers) - int(s.joker_buffer)
    return s.n_jokers < MAX_JOKERS and staying < s.joker_slots + negatives(s.jokers, s.n_jokers)


@rule
def room_for_consumable(s):
    """Whether one more consumable that is not Negative fits."""
    free = s.n_consumables < s.consumable_slots + negatives(s.consumables, s.n_consumables)
    return s.n_consumables < MAX_CONSUMABLES and free


@rule
def add_joker_from_item(s, item):
    """The item is the rightmost joker."""
    s.jokers[s.n_jokers] = item
    s.jokers[s.n_jokers].stickers &= ~FREE
    s.n_jokers += 1
    s.used[item.id] = 1
    s.lineup_stale = 1


@rule
def add_consumable_from_item(s, item):
    """The item is the rightmost consumable."""
    s.consumables[s.n_consumables] = item
    s.consumables[s.n_consumables].stickers &= ~FREE
    s.n_consumables += 1
    s.used[FIRST_CONSUMABLE + item.id] = 1


@rule
def remove_joker(s, slot):
    """The joker in this slot is gone; those right of it move up."""
    joker = int(s.jokers[slot].id)
    for i in range(slot, int(s.n_jokers) - 1):
        s.jokers[i] = s.jokers[i + 1]
    s.n_jokers -= 1
    clear_item(s.jokers[s.n_jokers])
    release(s, int(Kind.JOKER), joker)
    s.lineup_stale = 1


@rule
def remove_consumable(s, slot):
    """The consumable in this slot is gone; those right of it move up."""
    consumable = int(s.consumables[slot].id)
    for i in range(slot, int(s.n_consumables) - 1):
        s.consumables[i] = s.consumables[i + 1]
    s.n_consumables -= 1
    clear_item(s.consumables[s.n_consumables])
    release(s, int(Kind.CONSUMABLE), consumable)


@rule
def keep_pinned_left(s):
    """Pinned jokers stand left of all others, the youngest first."""
    for i in range(1, s.n_jokers):
        j = i
        while j > 0 and stands_left(s.jokers[j], s.jokers[j - 1]):
            s.made = s.jokers[j]
            s.jokers[j] = s.jokers[j - 1]
            s.jokers[j - 1] = s.made
            j -= 1


@rule
def stands_left(joker, other):
    """Whether a joker belongs left of one that stands there now."""
    if not joker.stickers & Sticker.PINNED:
        return False
    return not other.stickers & Sticker.PINNED or joker.created > other.created


@rule
def create_joker(s, source):
    """A new joker of this source is owned, if there is room. Answers whether."""
    if not room_for_joker(s):
        return False
    make_joker(s, source, False, False)
    add_joker_from_item(s, s.made)
    return True


@rule
def create_tarot(s, source):
    """A new tarot of this source is owned, if there is room. Answers whether."""
    if not room_for_consumable(s):
        return False
    make_tarot(s, source, False)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_planet(s, source):
    """A new planet of this source is owned, if there is room. Answers whether."""
    if not room_for_consumable(s):
        return False
    make_planet(s, source, False)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_spectral(s, source):
    """A new spectral of this source is owned, if there is room. Answers whether."""
    if not room_for_consumable(s):
        return False
    make_spectral(s, source, False)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_given_consumable(s, consumable):
    """A given consumable is owned, if there is room. Answers whether."""
    if not room_for_consumable(s):
        return False
    make_given_consumable(s, consumable)
    add_consumable_from_item(s, s.made)
    return True


@rule
def create_planet_of(s, hand):
    """The planet of a hand is owned, if there is room. Answers whether."""
    return create_given_consumable(s, int(PLANET_OF_HAND[hand]))


@rule
def copy_joker(s, slot, strip_negative):
    """A copy of the joker in this slot is the rightmost one. The caller has seen that it fits."""
    s.made = s.jokers[slot]
    s.created += 1
    s.made.created = s.created
    if strip_negative and s.made.edition == Edition.NEGATIVE:
        s.made.edition = 0
        price(s, s.made)
    add_joker_from_item(s, s.made)


@rule
def add_card(s, rank, suit, enhancement, edition, seal):
    """A new playing card is part of the full deck, in no list yet. Answers its index, -1 where the record is full."""
    if s.n_cards >= MAX_CARDS:
        return -1
    index = int(s.n_cards)
    s.n_cards += 1
    card = s.cards[index]
    card.rank = rank
    card.suit = suit
    card.first_suit = suit
    card.enhancement = enhancement
    card.edition = edition
    card.seal = seal
    card.debuffed = 0
    card.face_down = 0
    card.played_this_ante = 0
    card.forced = 0
    card.worn = 0
    card.bonus = 0
    card.place = Place.GONE
    s.cards_made += 1
    card.created = s.cards_made
    s.pending_added += 1
    return index


@rule
def add_card_item(s, item):
    """A card from the shop or a pack is part of the full deck, at its age. Answers its index, -1 where there is no room.

    Cards of one pack may be taken in another order than they were made in; every list of cards follows the move.
    """
    index = add_card(s, int(item.rank), int(item.suit), int(item.enhancement), int(item.edition), int(item.seal))
    if index < 0:
        return -1
    s.cards[index].created = item.created
    while index > 0 and s.cards[index - 1].created > s.cards[index].created:
        swap_cards(s, index - 1)
        index -= 1
    return index


@rule
def swap_cards(s, index):
    """Two neighbours of the card array change places, and the lists name them by their new ones."""
    a, b = s.cards[index], s.cards[index + 1]
    a.rank, b.rank = b.rank, a.rank
    a.suit, b.suit = b.suit, a.suit
    a.first_suit, b.first_suit = b.first_suit, a.first_suit
    a.enhancement, b.enhancement = b.enhancement, a.enhancement
    a.edition, b.edition = b.edition, a.edition
    a.seal, b.seal = b.seal, a.seal
    a.debuffed, b.debuffed = b.debuffed, a.debuffed
    a.face_down, b.face_down = b.face_down, a.face_down
    a.place, b.place = b.place, a.place
    a.played_this_ante, b.played_this_ante = b.played_this_ante, a.played_this_ante
    a.forced, b.forced = b.forced, a.forced
    a.worn, b.worn = b.worn, a.worn
    a.created, b.created = b.created, a.created
    a.bonus, b.bonus = b.bonus, a.bonus
    rename(s.deck, s.n_deck, index)
    rename(s.hand, s.n_hand, index)


@rule
def rename(order, n, index):
    """In a list of card indices, `index` and `index + 1` change places."""
    for i in range(n):
        if order[i] == index:
            order[i] = index + 1
        elif order[i] == index + 1:
            order[i] = index


@rule
def put_in_deck(s, card):
    """A card lies under the draw pile."""
    for i in range(s.n_deck - 1, -1, -1):
        s.deck[i + 1] = s.deck[i]
    s.deck[0] = card
    s.n_deck += 1
    s.cards[card].place = Place.DECK


@rule
def put_in_hand(s, card):
    """A card is the rightmost of the hand; under the draw pile where the hand is full."""
    if s.n_hand >= MAX_HAND:
        put_in_deck(s, card)
        return
    s.hand[s.n_hand] = card
    s.n_hand += 1
    s.cards[card].place = Place.HAND
